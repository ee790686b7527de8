/** keccak-256 of the code of a published key manager. */
interface PublishedCodes {
  /** That of the contract itself. */
  readonly contract: string
  /** That of the contract to which minimal proxies (ERC-1167) delegate. */
  readonly behindProxies: string
}

/**
 * The published key managers (LSP6) for which the server relays, by npm package. The code is the `deployedBytecode` of the
 * package's artifacts `LSP6KeyManager` and `LSP6KeyManagerInit`; it holds no immutable values, so all that are deployed have it.
 * Versions 0.10.2 and 0.8.1 have the code of the version that follows them.
 */
export const publishedCodes = {
  '@lukso/lsp6-contracts@0.15.5': {
    contract: '0x1b81a273973bbcb1318754fbf1f57d4e647ef33b6d7b35f94815d3f252343756',
    behindProxies: '0x11c77c789d2595bf8dc7e033357fe9a69fbb9cecc4561c8e914ecd66ed89c0d2',
  },
  '@lukso/lsp6-contracts@0.15.0': {
    contract: '0xef6ecf61aea769ac6409c9c7180bfcaf6e19c66219706d13a4bcd39e6b438cd2',
    behindProxies: '0xfc3f06484e66b9c3593ae0a266a9556b1aaf44a716d5b998a90720dff23dc832',
  },
  '@lukso/lsp-smart-contracts@0.17.4': {
    contract: '0x0d966d1e331fa9a8c0b358c073a71fe91c08670ee2305280474d835b790fa497',
    behindProxies: '0xe1ac8f5eb03567800e8ef90fcf768c6dda6142fbd6174ed5748f5992c4d03ec3',
  },
  '@lukso/lsp-smart-contracts@0.16.7': {
    contract: '0xf2a3d2d5f651b989c14ccc13ca99740cad33d193a25305bedf273215840c39a4',
    behindProxies: '0xbf2cc219591b832dd8b37755f1641705e4e45c86d4d0917715e8a8758d51b8b2',
  },
  '@lukso/lsp-smart-contracts@0.16.2': {
    contract: '0x0db2267db70a01c90c817aea776065423117b444d0cf3fbae4d101e7e31d5da7',
    behindProxies: '0x0e8e942c2d2c25a8324666645435f64181ffd172101753cb6fe9b85f83d060e5',
  },
  '@lukso/lsp-smart-contracts@0.15.0': {
    contract: '0xa61314c01d9bf5d01b064436e8d1d56b8e8081fc96d2707071af9540575aa667',
    behindProxies: '0xf38d89f8dfa4afee2eff1a27ae7c40754f422bdd4812e8474ad660e2ef256852',
  },
  '@lukso/lsp-smart-contracts@0.14.0': {
    contract: '0x27e54505125296b815b09b29409ddb4a8f98dc7a3c7d3e65efe7db2a7061ff17',
    behindProxies: '0x2d80c18289db6a391ac30a06d60ea6ddc9ad712e3df4fc5c55bf77e58a3d6cb3',
  },
  '@lukso/lsp-smart-contracts@0.13.0': {
    contract: '0xf845911255bb976f7a11065d0335f9ab877d5453fee667ad38de85ff5eec028b',
    behindProxies: '0xc047fe55756fc2cb66c20810a6794368be4c65a1ca2cfe61b497184d2c767355',
  },
  '@lukso/lsp-smart-contracts@0.12.1': {
    contract: '0x944e307de08911ddc2b99f5b171cce1b0a00b0e2ec4833ff12940602afe93703',
    behindProxies: '0x6efe22543daba59d72ec70ba3a77047cd8928d8b241c1842ad948d75942ec2a4',
  },
  '@lukso/lsp-smart-contracts@0.12.0': {
    contract: '0x459b45ca3f89fd40755dfa24e8dd2931a83afae18f15512ff6b39444c98c60b1',
    behindProxies: '0x5aecb415ba3944e3bdfe4f056eb0864453b87d776da0fa8ba982030a30315bd5',
  },
  '@lukso/lsp-smart-contracts@0.11.1': {
    contract: '0x5a82348f979a6da41c095c8e1d86869d0bf484b7591396e43829ba3cc6411304',
    behindProxies: '0x5237dd7502531e8ae0c372336b0844ddf7179064b759a71c1092361236323fe9',
  },
  '@lukso/lsp-smart-contracts@0.10.3': {
    contract: '0xf9ac7dc9ba9fc7e07f9583384ffda87e2a2d1a458438e7fc18c32b7ebaae9689',
    behindProxies: '0x0d8d31709889effe2edb3d30c233926e2a4049f04e3c3556510cbeefbd070407',
  },
  '@lukso/lsp-smart-contracts@0.10.1': {
    contract: '0xd60d017c82bc6421e6b49e685dbba07b4e17c3c2d3f6cce3f43d6567651518b1',
    behindProxies: '0x654ded86198a9ead6d01bc1dd79faa79d50c9b11723792ba426996fe732eb826',
  },
  '@lukso/lsp-smart-contracts@0.8.2': {
    contract: '0xc4dfdee75807fd4920839c5f0169b4e82d34b33254ce6af56fbdc752df89d567',
    behindProxies: '0x7f8314bd70065acf05dd3ba6752bb6a72e1514f61cfb930dd2b8dd1ec90bca21',
  },
  '@lukso/lsp-smart-contracts@0.8.0': {
    contract: '0x172a20948401484bd98bd98ca82a4d39b278aa16639f2e76b3bb0de78819a3c6',
    behindProxies: '0x1c53ca963020a886347191613903b0d1294a41963c6b0a56780c6d0f5a298c08',
  },
} as const satisfies Readonly<Record<string, PublishedCodes>>
