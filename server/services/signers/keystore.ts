import { decryptKeystoreJson } from 'ethers'
import { ConfigError } from '../../config/config-error.ts'
import type { Secrets } from '../../config/secrets.ts'
import { signerFromKey, type SignerAccount } from './signer-account.ts'

/**
 * Opens encrypted JSON keystores (Web3 Secret Storage).
 *
 * @throws ConfigError naming the file; never a password or a key
 */
export async function openKeystores(keystores: Secrets['keystores']): Promise<SignerAccount[]> {
  return Promise.all(
    keystores.map(async ({ file, json, password }) => {
      let privateKey: string
      try {
        privateKey = (await decryptKeystoreJson(json, password)).privateKey
      } catch {
        // The cause is left out, because it may quote the password or the key.
        throw new ConfigError([`signers/keystores: ${file} cannot be opened: no keystore, or another password`])
      }
      return signerFromKey(privateKey)
    }),
  )
}
