/*
 * run: all of one invocation; types only.
 */
#ifndef RUN_H
#define RUN_H

#include "attempt/attempt.h"
#include "attempt/hooks.h"
#include "policy/attempt_log.h"
#include "attempt/nesting.h"
#include "policy/plan.h"
#include "policy/policy.h"
#include "output/countdown.h"
#include "attempt/event_loop.h"
#include "attempt/http_request.h"

struct run {
	struct policy policy; /* const once it is filled in */
	struct outer outer;
	struct nesting nesting;
	struct event_loop loop;
	struct http_request request;
	struct attempt child;
	struct history history;
	struct attempt_log *attempt_log; /* NULL: nobody wants to read it */
	struct hook hook;
	struct countdown countdown;
	unsigned told; /* a bit for each reason why this wait was said to be */
};

#endif
