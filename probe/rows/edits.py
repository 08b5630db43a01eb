# where the cut pack's place moved: the limits, before the long rows; ends behind packs
E=rep(E,"## Long rows: blocks\n\nA part of a row is read as in chapter 11","""## Long rows: blocks

What may be on its way at a time, and what it needs of the workspace:

``` {.cuda #rows-limits}
"""+body('rows-limits')+"""
```

A part of a row is read as in chapter 11""")
used.add('rows-limits')
k=E.index("NaN, zeros and ties are decided as in [chapter 13]")
E=E[:k]+"""Which of an array's elements lie in whole packs, and which are edges:

``` {.cuda #rows-ends}
"""+body('rows-ends')+"""
```

"""+E[k:]
used.add('rows-ends')
missing=[n for n in chunks if n not in used and n not in skip]
E=rep(E,"""Where there is little to do, each row has a warp, and a long one the whole block:""","""Where there is little to do, each row has a block, or a warp if most are short, and other blocks help with
chunks of long rows:""")
i=E.index("A block of a row that waits does so for blocks that wait for nobody."); j=E.index("## Which kernel takes a matrix")
E=E[:i]+"""The last block of a row to start waits for the others' mail. These have drawn their numbers, so they run already
and wait for nobody: no block waits for one that may not have started.

``` {.claim}
# reason: a number is drawn by a block that runs; CUDA promises no order of blocks
```

"""+E[j:]
i=E.index("A row that has more to read than a warp of teams") if "A row that has more to read than a warp of teams" in E else -1
E=rep(E,"Whole tiles need no questions:","One kernel is for a warp with a row of its own, for a block, and for several. Whole tiles need no questions:")
C=rep(C,"""Rows of 65 are the ones in the lab that are loaded one element to a lane. The CPU device counts for their sum
`rows_by_lanes_RowsSum_float_1_16_5_2.global_ld_requests / rows_by_lanes_RowsSum_float_4_4_2_2.global_ld_requests`{.result}
the requests of rows of 32, and
`rows_by_lanes_RowsSum_float_1_16_5_2.global_ld_sectors / rows_by_lanes_RowsSum_float_4_4_2_2.global_ld_sectors`{.result}
the sectors: sixteen lanes load 64 bytes at a time, which mostly touch three sectors and not two. Their time is
`rows_sum_65.time / rows_sum_32.time`{.result} that of rows of 32, since a sector that is asked for twice comes from
memory only once.
""","""Rows of 65 have a window as well, and two lanes each. Their sum takes `rows_sum_65.time / rows_sum_32.time`{.result}
the time of rows of 32, which need none. Rows that are few, or lie apart, have no window: their lanes load one element
at a time.
""")
C=rep(C,"""rows_by_lanes_RowsSum_float_4_4_2_2.global_ld_sectors == 3200000
rows_by_lanes_RowsSum_float_1_16_5_2.global_ld_sectors > 12.49 * 25600000 / 65
rows_by_lanes_RowsSum_float_1_16_5_2.global_ld_sectors < 12.51 * 25600000 / 65
""","")
C=rep(C,"""# reason: of the eight places at which 64 bytes may begin in a sector only one makes them two sectors: 2.875 on average;
#   memory's share of its rate is in the table of what held it back
""","")

i=E.index("    CUDA((rows_with_blocks<RowsSum, float, 512>("); j=E.index("    return shape.rows;",i)
E=E[:i]+"""    const RowsTask<float> task = {r.d_in, shape.cols, NULL, 0, shape.rows, shape.cols};
    CUDA((RowsReduce<RowsSum, float>::by_blocks(d, task, r.d_partial, rows_workspace(r.stream),
                                                r.stream, false)));
"""+E[j:]
