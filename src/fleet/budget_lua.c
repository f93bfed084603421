#include "fleet/budget_lua.h"

/* clang-format off */

/*
 * Lua calculates with doubles. All numbers here are whole and less than 2^53,
 * so that every result is exact; S is split to keep its product with q small.
 */
const char budget_lua[] =
"local key, w, q, m = KEYS[1], nil, nil, nil\n"
"local n, by, first = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])\n"
"local T = tonumber(ARGV[7])\n"

/* Redis 5 lets a script write after TIME only if it replicates the effects. */
"if not T then\n"
"  if redis.replicate_commands then redis.replicate_commands() end\n"
"  local time = redis.call('TIME')\n"
"  T = time[1] * 1000000 + time[2]\n"
"end\n"

/* Whoever asked does not wait any more. */
"if by > 0 and T > by then return {3, 0, 0, 0, 0, 0, 0, T, 0, 0, 0, 0} end\n"

/* Anything else than a whole number of 53 bits is nil: even "nan" is no NaN. */
"local function number(value)\n"
"  value = tonumber(value)\n"
"  if value and value >= 0 and value < 2^53 then return math.floor(value) end\n"
"end\n"
"local names = {'w', 'q', 'm', 'e', 'R', 'S', 'H', 'x'}\n"
"local head = redis.call('HMGET', key, unpack(names))\n"
"for i = 1, 8 do head[i] = number(head[i]) end\n"
"local e, R, S, H, x\n"
"w, q, m, e, R, S, H, x = unpack(head, 1, 8)\n"

/* A question that counts nothing changes nothing, not even the terms. */
"local counts = n > 0 or #ARGV > 7\n"
"if not (w and w > 0 and q and m) then\n"
"  w, q, m = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])\n"
"  e, R, H = nil, nil, nil\n"
"elseif counts then\n"
"  q = math.min(q, tonumber(ARGV[2]))\n"
"  m = math.min(m, tonumber(ARGV[3]))\n"
"end\n"

/* What is counted in a slot, and in which order the changes were made. */
"local slots, changes = {}, {}\n"
"local function add(kind, epoch, count)\n"
"  if count == 0 then return end\n"
"  local name = kind .. epoch % 64\n"
"  local slot = slots[name]\n"
"    or {count = number(redis.call('HGET', key, name)) or 0}\n"
"  slots[name] = slot\n"
"  slot.count = slot.count + count\n"
"  if not slot.changed then changes[#changes + 1] = name end\n"
"  slot.changed = true\n"
"  if kind == 's' then S = S + count end\n"
"  if kind == 'h' then H = H + count end\n"
"  if kind == 'r' then\n"
"    if R == 0 or epoch < x then x = epoch end\n"
"    R = R + count\n"
"  end\n"
"end\n"

/*
 * A clock that is less than a slice behind the latest epoch is another server's
 * or an earlier reading. In a new epoch all slots are added up again, and those
 * of the past emptied. If the clock was set back, the age of a slot is unknown:
 * all retries count as new, and all successes as too old.
 */
"local E = math.floor(T / w)\n"
"if e and e == E + 1 then E = e end\n"
"if not (e == E and R and S and H and x) then\n"
"  local all = {}\n"
"  for i = 0, 63 do\n"
"    all[i * 3 + 1], all[i * 3 + 2], all[i * 3 + 3] = 'r'..i, 's'..i, 'h'..i\n"
"  end\n"
"  local found = redis.call('HMGET', key, unpack(all))\n"
"  local back = not e or e > E\n"
"  local kept = {r = back and R or 0, h = back and H or 0}\n"
"  R, S, H, x = 0, 0, 0, E\n"
"  for i, name in ipairs(all) do\n"
"    local count = number(found[i]) or 0\n"
"    local epoch = (e or E) - ((e or E) - math.floor((i - 1) / 3)) % 64\n"
"    if back or epoch < E - 61 then\n"
"      slots[name] = {count = 0, changed = count ~= 0}\n"
"      if count ~= 0 then changes[#changes + 1] = name end\n"
"    else\n"
"      local kind = string.sub(name, 1, 1)\n"
"      slots[name] = {count = count}\n"
"      if kind == 'r' then\n"
"        if count > 0 and (R == 0 or epoch < x) then x = epoch end\n"
"        R = R + count\n"
"      end\n"
"      if kind == 's' and epoch >= E - 58 then S = S + count end\n"
"      if kind == 'h' then H = H + count end\n"
"    end\n"
"  end\n"
"  add('r', E, kept.r)\n"
"  add('h', E, kept.h)\n"
"end\n"

/* Successes, and retries that were made without the server. */
"for i = 8, #ARGV, 3 do\n"
"  local epoch = math.floor((T - tonumber(ARGV[i])) / w)\n"
"  if epoch >= E - 58 then add('s', epoch, tonumber(ARGV[i + 1])) end\n"
"  if epoch >= E - 61 then add('r', epoch, tonumber(ARGV[i + 2])) end\n"
"end\n"
"if counts then add('h', E, first) end\n"

/* One host gets a quarter of what is left, so that others get some, too. */
"local limit = math.floor(S / 1000000) * q\n"
"  + math.floor(S % 1000000 * q / 1000000)\n"
"limit = math.max(m, limit)\n"
"local k = 0\n"
"if R < limit then\n"
"  k = math.min(n, math.max(1, math.floor((limit - R) / 4)))\n"
"end\n"
"add('r', E, k)\n"

"if counts then\n"
"  local values = {w, q, m, E, R, S, H, x}\n"
"  local put = {}\n"
"  for i, name in ipairs(names) do\n"
"    put[#put + 1], put[#put + 2] = name, values[i]\n"
"  end\n"
"  for _, name in ipairs(changes) do\n"
"    put[#put + 1], put[#put + 2] = name, slots[name].count\n"
"  end\n"
"  redis.call('HSET', key, unpack(put))\n"
"  redis.call('PEXPIRE', key, math.ceil(w * 66 / 1000))\n"
"end\n"
"local code = n == 0 and 2 or k > 0 and 1 or 0\n"
"local next = (x + 62) * w - T\n"
"local pause = 1000000 + H * 500\n"
"return {code, k, R, limit, S, next, pause, T, H, q, m, w * 60}\n";

/* clang-format on */

const char budget_lua_sha1[] = "fe8125fa368e2f80760962df3e06d728ec033072";
