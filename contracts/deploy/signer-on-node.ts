import {
  JsonRpcSigner,
  type JsonRpcApiProvider,
  type Signer,
  type TransactionRequest,
  type TransactionResponse,
} from 'ethers'

/** More gas than any transaction takes that prepares a chain, at most 4.3 million; several fit into a block. */
const ENOUGH_GAS = 8_000_000n

/**
 * A signer for an account that a development node holds. It lets the node sign, because signing and encoding in JavaScript
 * take longer. Of a transaction that it has sent, it tells the hash alone.
 */
export function signerOnNode(provider: JsonRpcApiProvider, address: string): Signer {
  return new SignerOnNode(provider, address)
}

class SignerOnNode extends JsonRpcSigner {
  /** No estimate: a development node executes a transaction several times for it, and keeps a record of each step. */
  override async estimateGas(): Promise<bigint> {
    return ENOUGH_GAS
  }

  override async sendTransaction(transaction: TransactionRequest): Promise<TransactionResponse> {
    return { hash: await this.sendUncheckedTransaction(transaction) } as TransactionResponse
  }
}
