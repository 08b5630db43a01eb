import csv,sys,math
from collections import defaultdict,OrderedDict
f=sys.argv[1]; d=OrderedDict(); bad=[]
for x in csv.reader(open(f)):
    if x[0].startswith('#'): print(x); continue
    if x[0]=='kind': continue
    k=tuple(x[:8]); d.setdefault(k,{})[x[8]]=(float(x[9]),float(x[10]))
    if int(x[11])!=0: bad.append(x)
print('bad',len(bad)); [print(b) for b in bad[:20]]
kinds=OrderedDict()
for k,v in d.items():
    if 'old' in v and 'new' in v: kinds.setdefault((k[0],k[1],k[2] if k[0]!='ragged' else ''),[]).append((v['new'][0]/v['old'][0],k,v))
for kk,l in kinds.items():
    r=[x[0] for x in l]; g=math.exp(sum(map(math.log,r))/len(r))
    print('%-28s n=%3d new/old geomean %.3f  least %.3f most %.3f  over 1.02: %d'%(' '.join(kk),len(l),g,min(r),max(r),sum(x>1.02 for x in r)))
if len(sys.argv)>2:
    for kk,l in kinds.items():
        for r,k,v in sorted(l,key=lambda x:-x[0]):
            if r>1.02: print('%.3f'%r,','.join(k),' '.join('%s=%.2f'%(n,t[0]) for n,t in v.items()))
