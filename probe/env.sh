export T_DRAMLAT=686 T_L2=284 T_BSTART=340 T_DRAM=3110 T_LAUNCH=800 T_BLOCK=1.21 DEV=nvidia-h100-80gb-hbm3 T_READ=12
LABS="02_shared_memory 03_bit_ops 04_bank_conflicts 05_first_add_on_load 06_last_warp_unroll 07_full_unroll 08_grid_stride 09_shuffle"
