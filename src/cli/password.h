/*
 * password: finds the password for a fleet's server, in a file or a variable.
 */
#ifndef PASSWORD_H
#define PASSWORD_H

#include <stdbool.h>
#include "cli/optparse.h"
#include "policy/policy.h"

/*
 * Reads the file that option, --fleet-auth or its variable, has named; without
 * one the variable RETRY_FLEET_AUTH. False if there is no such variable. Exits
 * after a message, which never shows the password, if the file cannot be read
 * or others may read it, or if the text is no password.
 */
bool password_find(const struct option *option, struct fleet_policy *fleet);

#endif
