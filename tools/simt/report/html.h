// `simt --html FILE`: one page that needs nothing else. Its form is tools/page/report.html with its
// styles and scripts; what they show stands in it as JSON (page_data.h), and the launches and the
// hazards also as they are without scripts.
#ifndef HTML_H
#define HTML_H

#include <stdbool.h>

#include "simt/report/report.h"

// The page of what profile.h and hazards.h know, for options->html. False: errno says why it could
// not be written; the file is then as it was.
bool html_write(Arena *arena, const ReportOptions *options);

#endif
