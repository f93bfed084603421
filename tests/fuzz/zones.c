/*
 * Any bytes as the file of a zone, at any moment: nothing behind them is read, and a refusal
 * changes nothing.
 */
#include "fuzz.h"
#include "text/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static const int64_t moments[] = { INT64_MIN / 4, -1, 0, 1795910400, INT64_MAX / 4 };
	char *text = fuzz_text(data, size);

	for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
		int64_t ahead = INT64_MIN;

		fuzz_never(!zone_ahead((struct strview){ text, size }, moments[i], &ahead) &&
		    ahead != INT64_MIN);
	}
	free(text);
	return 0;
}
