/*
 * run: all of one invocation; types only.
 */
#ifndef RUN_H
#define RUN_H

#include "child.h"
#include "hooks.h"
#include "journal.h"
#include "nesting.h"
#include "plan.h"
#include "policy.h"
#include "progress.h"
#include "pump.h"
#include "request.h"

struct run {
	struct policy policy; /* const once it is filled in */
	struct outer outer;
	struct nesting nesting;
	struct pump pump;
	struct request request;
	struct child child;
	struct history history;
	struct journal *journal; /* NULL: nobody wants to read it */
	struct hook hook;
	struct progress progress;
	unsigned told; /* a bit for each reason why this wait was said to be */
};

#endif
