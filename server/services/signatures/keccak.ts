// ethers' own Keccak is plain JavaScript; in WebAssembly it takes a tenth of the time. Registered with ethers, so that
// checksums of addresses gain from it as well as digests.
import { keccak256 } from 'ethers'
import { createKeccak } from 'hash-wasm'

const hasher = await createKeccak(256)

keccak256.register((bytes) => hasher.init().update(bytes).digest('binary'))
