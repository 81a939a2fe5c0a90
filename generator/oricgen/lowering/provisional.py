"""Operations read straight from spec/encoding (provisional layout)."""
from __future__ import annotations
import re
from .operations import Column, Modifier, Operation
from .compiler import SLOT_DEST, SLOT_F32, SLOT_F64, SLOT_HALF, SLOT_IMM, SLOT_PRED, SLOT_WIDE
KINDS={'f32':SLOT_F32,'f64h':SLOT_F64,'f16x2':SLOT_HALF,'bf16x2':SLOT_HALF}
def load(spec):
    formats=spec.load('formats.yaml'); sets=formats['sets']; shapes=formats['shapes']
    out={}; n=0
    for rel,data in spec.family('encoding').items():
        for name,row in data['operations'].items():
            n+=1
            mods={}; shift=0; default=0
            for mname,text in row.get('mods',{}).items():
                if isinstance(text,dict): text=next(iter(text.values()))
                vals=_values(mname,str(text),sets)
                width=max(1,max(vals.values(),default=1).bit_length()) if vals else 8
                mods[mname]=Modifier(mname,shift,width,vals); default|=_default(str(text),vals,sets)<<shift; shift+=width
            cols=[]; names=[]
            for i,o in enumerate(row['ops'].split()):
                m=re.match(r'([A-Za-z]+\d?)(\?)?(:\w+)?',o)
                nm=m[1]; slot=0
                opt=('=' in o) or bool(m[2]) or (nm.startswith('P') or nm.startswith('UP')) and i>0
                if nm[0]=='P' or nm.startswith('UP'): slot|=SLOT_PRED
                if m[3]==':2': slot|=SLOT_WIDE
                if nm in('Rd','Pd','Pu','Pv','URd','Rd2','UPu','UPv'): slot|=SLOT_DEST
                if nm in('off','cb','count','sb','SR'): slot|=SLOT_IMM
                names.append(nm); cols.append([nm,slot,opt])
            srcs=[i for i,c in enumerate(cols) if re.match(r'U?R[abc]$',c[0])]
            forms=row['forms']
            if isinstance(forms,str): forms=[{'shape':forms}]
            for f in forms:
                kind=KINDS.get(f.get('imm',row.get('imm')),SLOT_IMM)
                if 'shape' in f:
                    parts=f['shape'].split(); fam=shapes[parts[0]]; sel=parts[2:] or [s for s in fam]
                    for s in sel:
                        for k,ch in enumerate(s):
                            if ch=='I' and k<len(srcs): cols[srcs[k]][1]|=kind
                for nm,at in (f.get('at') or {}).items():
                    if re.match(r'[ux]\d+@',at) and nm in names: cols[names.index(nm)][1]|=SLOT_IMM
            isa=row.get('isa')
            isas=tuple(isa) if isa else None
            out[name]=Operation(name,n,[Column(*c) for c in cols],mods,isas,default)
    return out
def _values(mname,text,sets):
    text=text.strip()
    m=re.match(r'([\d,\-]+)\s*(.*)$',text)
    rest=m[2] if m else text
    if rest.startswith('$'): rest=sets[rest[1:]]
    if not rest: return {mname.upper():1}
    if rest.startswith('int') or rest in('swizzle','set'): return {}
    vals={}; n=0
    for w in rest.split():
        if '=' in w:
            k,w=w.split('='); n=int(k)
        v=w.strip('()*')
        if v!='-': vals[v]=n
        n+=1
    return vals

def _default(text,vals,sets):
    m=re.search(r'\$(\w+)',text)
    if m: text=sets[m[1]]
    m=re.search(r'\((\w[\w.]*)\)|(\w[\w.]*)\*',text)
    if not m: return 0
    k=m[1] or m[2]
    return vals.get(k, int(k) if k.isdigit() else 0)
