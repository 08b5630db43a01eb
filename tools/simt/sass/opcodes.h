// The opcodes that can be executed: each with what lowers it and how its meaning is known.
//
//     VECTORS  results of an H200 on interesting inputs: tests/simt/sass/vectors.txt
//     LABS     the labs that use it are right, and count what Nsight Compute counts on an H200
//     PTX      the PTX that it was made of says what it must do; most give the same results over
//              random inputs in tests/simt/sass/meanings.cu and bulks.cu
#ifndef SASS_OPCODES_H
#define SASS_OPCODES_H

// clang-format off
#define SASS_OPCODES(X) \
    X(IADD3, sass_lower_iadd3, VECTORS) \
    X(UIADD3, sass_lower_iadd3, VECTORS) \
    X(IDP, sass_lower_idp, VECTORS) \
    X(VABSDIFF, sass_lower_absdiff, VECTORS) \
    X(VABSDIFF4, sass_lower_absdiff4, PTX) \
    X(SGXT, sass_lower_sgxt, VECTORS) \
    X(USGXT, sass_lower_sgxt, PTX) \
    X(BMSK, sass_lower_bmsk, VECTORS) \
    X(UBMSK, sass_lower_bmsk, PTX) \
    X(UPRMT, sass_lower_prmt, PTX) \
    X(UPLOP3, sass_lower_plop3, PTX) \
    X(VIADD, sass_lower_viadd, VECTORS) \
    X(IMAD, sass_lower_imad, VECTORS) \
    X(UIMAD, sass_lower_imad, VECTORS) \
    X(LEA, sass_lower_lea, VECTORS) \
    X(ULEA, sass_lower_lea, VECTORS) \
    X(LOP3, sass_lower_lop3, VECTORS) \
    X(ULOP3, sass_lower_lop3, LABS) \
    X(SHF, sass_lower_shf, VECTORS) \
    X(USHF, sass_lower_shf, LABS) \
    X(PRMT, sass_lower_prmt, VECTORS) \
    X(SEL, sass_lower_sel, VECTORS) \
    X(USEL, sass_lower_sel, LABS) \
    X(FSEL, sass_lower_sel, VECTORS) \
    X(MOV, sass_lower_mov, VECTORS) \
    X(UMOV, sass_lower_mov, VECTORS) \
    X(ISETP, sass_lower_isetp, VECTORS) \
    X(UISETP, sass_lower_isetp, LABS) \
    X(VIMNMX, sass_lower_iminmax, VECTORS) \
    X(VIMNMX3, sass_lower_minmax3, LABS) \
    X(VIADDMNMX, sass_lower_addminmax, VECTORS) \
    X(IABS, sass_lower_iabs, VECTORS) \
    X(POPC, sass_lower_popc, VECTORS) \
    X(UPOPC, sass_lower_popc, LABS) \
    X(FLO, sass_lower_flo, VECTORS) \
    X(UFLO, sass_lower_flo, LABS) \
    X(BREV, sass_lower_brev, VECTORS) \
    X(UBREV, sass_lower_brev, PTX) \
    X(P2R, sass_lower_p2r, LABS) \
    X(R2P, sass_lower_r2p, LABS) \
    X(UP2UR, sass_lower_up2ur, LABS) \
    X(PLOP3, sass_lower_plop3, VECTORS) \
    X(FADD, sass_lower_fadd, VECTORS) \
    X(FMUL, sass_lower_fadd, VECTORS) \
    X(FFMA, sass_lower_ffma, VECTORS) \
    X(FMNMX, sass_lower_fminmax, VECTORS) \
    X(FSETP, sass_lower_fsetp, VECTORS) \
    X(FCHK, sass_lower_fchk, VECTORS) \
    X(MUFU, sass_lower_mufu, VECTORS) \
    X(DADD, sass_lower_dadd, VECTORS) \
    X(DMUL, sass_lower_dadd, VECTORS) \
    X(DFMA, sass_lower_dadd, VECTORS) \
    X(DSETP, sass_lower_dsetp, VECTORS) \
    X(HADD2, sass_lower_hadd2, VECTORS) \
    X(HFMA2, sass_lower_hfma2, VECTORS) \
    X(HMUL2, sass_lower_hmul2, VECTORS) \
    X(HMNMX2, sass_lower_hminmax, VECTORS) \
    X(HSETP2, sass_lower_hsetp2, VECTORS) \
    X(HSET2, sass_lower_hset2, VECTORS) \
    X(I2F, sass_lower_i2f, VECTORS) \
    X(I2FP, sass_lower_i2fp, VECTORS) \
    X(F2I, sass_lower_f2i, VECTORS) \
    X(F2F, sass_lower_f2f, VECTORS) \
    X(FRND, sass_lower_frnd, VECTORS) \
    X(I2I, sass_lower_i2i, VECTORS) \
    X(F2FP, sass_lower_f2fp, VECTORS) \
    X(F2IP, sass_lower_f2ip, VECTORS) \
    X(HMMA, sass_lower_hmma, VECTORS) \
    X(IMMA, sass_lower_imma, VECTORS) \
    X(DMMA, sass_lower_dmma, VECTORS) \
    X(LDSM, sass_lower_ldsm, VECTORS) \
    X(STSM, sass_lower_stsm, VECTORS) \
    X(MOVM, sass_lower_movm, VECTORS) \
    X(LDC, sass_lower_ldc, VECTORS) \
    X(ULDC, sass_lower_ldc, VECTORS) \
    X(S2R, sass_lower_s2r, VECTORS) \
    X(S2UR, sass_lower_s2r, VECTORS) \
    X(CS2R, sass_lower_cs2r, VECTORS) \
    X(R2UR, sass_lower_r2ur, LABS) \
    X(LDG, sass_lower_load, VECTORS) \
    X(LDS, sass_lower_load, VECTORS) \
    X(LDL, sass_lower_load, VECTORS) \
    X(LD, sass_lower_load, VECTORS) \
    X(STG, sass_lower_store, VECTORS) \
    X(STS, sass_lower_store, VECTORS) \
    X(STL, sass_lower_store, VECTORS) \
    X(ST, sass_lower_store, VECTORS) \
    X(ATOM, sass_lower_atom, LABS) \
    X(ATOMG, sass_lower_atom, VECTORS) \
    X(ATOMS, sass_lower_atom, VECTORS) \
    X(REDG, sass_lower_atom, VECTORS) \
    X(MEMBAR, sass_lower_membar, VECTORS) \
    X(CCTL, sass_lower_cctl, VECTORS) \
    X(QSPC, sass_lower_qspc, PTX) \
    X(LDGSTS, sass_lower_ldgsts, PTX) \
    X(LDGDEPBAR, sass_lower_ldgdepbar, PTX) \
    X(DEPBAR, sass_lower_depbar, PTX) \
    X(UTMACMDFLUSH, sass_lower_flush, PTX) \
    X(ERRBAR, sass_lower_nothing, VECTORS) \
    X(CGAERRBAR, sass_lower_nothing, VECTORS) \
    X(YIELD, sass_lower_yield, LABS) \
    X(NOP, sass_lower_nothing, VECTORS) \
    X(ENDCOLLECTIVE, sass_lower_nothing, LABS) \
    X(BRA, sass_lower_bra, VECTORS) \
    X(EXIT, sass_lower_exit, VECTORS) \
    X(BSSY, sass_lower_bssy, VECTORS) \
    X(BSYNC, sass_lower_bsync, VECTORS) \
    X(BREAK, sass_lower_break, VECTORS) \
    X(BMOV, sass_lower_bmov, PTX) \
    X(LEPC, sass_lower_lepc, PTX) \
    X(WARPSYNC, sass_lower_warpsync, VECTORS) \
    X(CALL, sass_lower_call, VECTORS) \
    X(RET, sass_lower_ret, VECTORS) \
    X(BRX, sass_lower_brx, PTX) \
    X(BPT, sass_lower_trap, LABS) \
    X(NANOSLEEP, sass_lower_nanosleep, VECTORS) \
    X(SHFL, sass_lower_shfl, VECTORS) \
    X(VOTE, sass_lower_vote, VECTORS) \
    X(VOTEU, sass_lower_vote, LABS) \
    X(REDUX, sass_lower_redux, VECTORS) \
    X(MATCH, sass_lower_match, VECTORS) \
    X(ELECT, sass_lower_elect, LABS) \
    X(BAR, sass_lower_bar, LABS) \
    X(B2R, sass_lower_b2r, PTX) \
    X(PREEXIT, sass_lower_nothing, LABS) \
    X(ACQBULK, sass_lower_grid_wait, LABS) \
    X(UCGABAR_ARV, sass_lower_cluster_arrive, LABS) \
    X(UCGABAR_WAIT, sass_lower_cluster_wait, LABS) \
    X(SYNCS, sass_lower_syncs, LABS) \
    X(ARRIVES, sass_lower_arrives, PTX) \
    X(UBLKCP, sass_lower_ublkcp, LABS) \
    X(UBLKRED, sass_lower_ublkred, PTX) \
    X(STAS, sass_lower_stas, PTX) \
    X(REDAS, sass_lower_redas, PTX) \
    X(FENCE, sass_lower_fence, LABS)
// clang-format on

typedef enum { SASS_VECTORS, SASS_LABS, SASS_PTX } SassEvidence;

typedef struct {
    const char *name;
    SassEvidence evidence;
} SassKnown;

extern const SassKnown sass_known[];
extern const unsigned sass_known_count;

#endif
