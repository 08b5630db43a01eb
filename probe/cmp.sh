#!/bin/bash
# cmp.sh LABS...: runs, prints stage predicted measured ratio
cd "$(dirname "$0")/.."
for l in "$@"; do
  ch=${l%%_*}
  ( SIMT_TIME=1 build/simt --threads 1 --machine build/labs/$l -n ${N:-25600000} ${K:+-k $K} 2>&1 | grep "^TIME" > build/$l.time ) &
  while [ $(jobs -r | wc -l) -ge 2 ]; do sleep 0.2; done
done; wait
python3 - "$@" <<'E'
import sys,re,csv,os
n=int(os.environ.get('N','25600000'))
res={}
for l in csv.reader(x for x in open('results/'+os.environ.get('DEV','nvidia-h200')+'.csv') if not x.startswith('#')):
    if l[0]=='chapter': continue
    if int(l[3])==n and l[6]=='0': res.setdefault((l[0],l[2]),[]).append((int(l[4]),int(l[5]),float(l[8])))
lim={}
tot=[]
for lab in sys.argv[1:]:
    ch=lab[:2]
    last={}
    for x in open(f'build/{lab}.time'):
        f=x[5:].strip().split(',')
        m=re.match(r'_Z(\d+)',f[0]); 
        name=f[0][2+len(m[1]):2+len(m[1])+int(m[1])] if m else f[0]
        t=re.search(r'ILi(\d+)',f[0]) or re.search(r'ILj(\d+)',f[0])
        last[(name,t[1] if t else '',int(f[1]),int(f[2]))]=(float(f[3]),f)
    for (c,k),rows in sorted(res.items()):
        if c!=ch: continue
        for blk,part,us in rows:
            best=None
            for (name,t,g,b),v in last.items():
                if (name==k or f'{name}_{t}'==k) and g==part and b==blk: best=v
                elif (name==k or f'{name}_{t}'==k) and part==1 and g>1 and best is None: best=v
            if best:
                r=best[0]/us
                tot.append(r)
                print(f"{ch} {k:38s} {part:7d}x{blk:<5d} meas {us:10.2f} pred {best[0]:10.2f} ratio {r:.3f} issued {best[1][5]}")
import statistics,math
if tot: print('median |err|',statistics.median(abs(r-1) for r in tot),'n',len(tot))
E
