nvcc -std=c++11 -O3 -arch=sm_90 -Xptxas -v -cubin -o t.cubin t.cu 2>&1 | grep "Compiling\|Used\|spill\|error\|warn"
/tmp/b/nvd/nvidia/cu13/bin/nvdisasm -c t.cubin | sed 's/^\s*//' > t.sass
python3 - <<'E2'
import re,collections
s=open('t.sass').read()
parts=re.split(r'\n\.text\.(\S+):',s)
for name,body in zip(parts[1::2],parts[2::2]):
    ins=[re.sub(r'^/\*[0-9a-f]*\*/\s*','',l) for l in body.split('\n') if re.match(r'/\*[0-9a-f]+\*/|^\.L',l)]
    short=re.search(r'kernelI(\w+?)EEEv',name); short=short.group(1) if short else name
    open('sass_'+short+'.txt','w').write('\n'.join(ins))
    lab={l[:-1]:i for i,l in enumerate(ins) if l.startswith('.L')}
    print(short,len(ins))
    for i,l in enumerate(ins):
        m=re.search(r'BRA.*`\((\.L\S+)\)',l)
        if m and lab.get(m.group(1),1e9)<i:
            j=lab[m.group(1)]; seg=[x for x in ins[j:i+1] if not x.startswith('.L')]
            if sum('LDG' in x for x in seg)<2: continue
            c=collections.Counter(re.sub(r'^@!?U?P\d+ ','',x).split()[0].split('.')[0] for x in seg)
            print('  loop',j,i,len(seg),dict(c.most_common()))
E2
