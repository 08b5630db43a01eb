// The files of tools/page/ that make up a page. tools/build/embed.sh writes them into the library,
// so that it works without the source tree.
#ifndef PAGE_PARTS_H
#define PAGE_PARTS_H

#include <stddef.h>

#define PAGE_PART(name)                                                                            \
    extern const unsigned char page_##name[];                                                      \
    extern const size_t page_##name##_length

PAGE_PART(report_html);
PAGE_PART(theme_css);
PAGE_PART(code_css);
PAGE_PART(report_css);
PAGE_PART(cuda_xml); // syntax highlighting
PAGE_PART(report_code_js);
PAGE_PART(report_counts_js);
PAGE_PART(report_banks_js);
PAGE_PART(report_panes_js);
PAGE_PART(report_js);

#endif
