import { Interface, type ErrorDescription } from 'ethers'

/** Why a call reverted. */
export interface RevertReason {
  /** Name of the custom error; `Error` for a text, `Panic` for a Solidity panic; null for data that nobody knows. */
  readonly name: string | null
  /** Arguments by name, as text. */
  readonly args: Readonly<Record<string, string>>
  /** The revert data itself, hex. */
  readonly data: string
}

/**
 * The errors of LSP6, LSP25, LSP0, LSP14, LSP20, LSP17 and ERC-725, in all versions that are relayed for; and the usual ones of
 * the tokens and of the followers' registry that profiles call.
 */
const knownErrors = new Interface([
  // LSP6 and LSP25
  'error NoPermissionsSet(address from)',
  'error NotAuthorised(address from, string permission)',
  'error NotAllowedCall(address from, address to, bytes4 selector)',
  'error NoCallsAllowed(address from)',
  'error NotAllowedERC725YDataKey(address from, bytes32 disallowedKey)',
  'error NoERC725YDataKeysAllowed(address from)',
  'error NotRecognisedPermissionKey(bytes32 dataKey)',
  'error InvalidLSP6Target()',
  'error InvalidRelayNonce(address signer, uint256 invalidNonce, bytes signature)',
  'error InvalidERC725Function(bytes4 invalidFunction)',
  'error InvalidEncodedAllowedCalls(bytes allowedCallsValue)',
  'error InvalidEncodedAllowedERC725YDataKeys(bytes value)',
  'error InvalidEncodedAllowedERC725YDataKeys(bytes value, string context)',
  'error InvalidWhitelistedCall(address from)',
  'error InvalidPayload(bytes payload)',
  'error InvalidDataValuesForDataKeys(bytes32 dataKey, bytes dataValue)',
  'error AddressPermissionArrayIndexValueNotAnAddress(bytes32 dataKey, bytes invalidValue)',
  'error CallingKeyManagerNotAllowed()',
  'error KeyManagerCannotBeSetAsExtensionForLSP20Functions()',
  'error DelegateCallDisallowedViaKeyManager()',
  'error CannotSendValueToSetData()',
  'error BatchExecuteParamsLengthMismatch()',
  'error LSP6BatchExcessiveValueSent(uint256 totalValues, uint256 msgValue)',
  'error LSP6BatchInsufficientValueSent(uint256 totalValues, uint256 msgValue)',
  'error RelayCallBeforeStartTime()',
  'error RelayCallExpired()',
  // ERC-725
  'error ERC725X_InsufficientBalance(uint256 balance, uint256 value)',
  'error ERC725X_UnknownOperationType(uint256 operationTypeProvided)',
  'error ERC725X_MsgValueDisallowedInStaticCall()',
  'error ERC725X_MsgValueDisallowedInDelegateCall()',
  'error ERC725X_CreateOperationsRequireEmptyRecipientAddress()',
  'error ERC725X_ContractDeploymentFailed()',
  'error ERC725X_NoContractBytecodeProvided()',
  'error ERC725X_ExecuteParametersLengthMismatch()',
  'error ERC725X_ExecuteParametersEmptyArray()',
  'error ERC725Y_DataKeysValuesLengthMismatch()',
  'error ERC725Y_DataKeysValuesLengthMismatch(uint256 dataKeysLength, uint256 dataValuesLength)',
  'error ERC725Y_DataKeysValuesEmptyArray()',
  'error ERC725Y_MsgValueDisallowed()',
  // LSP0, LSP14, LSP17, LSP20
  'error NoExtensionFoundForFunctionSelector(bytes4 functionSelector)',
  'error LSP14CallerNotPendingOwner(address caller)',
  'error LSP14CannotTransferOwnershipToSelf()',
  'error LSP14MustAcceptOwnershipInSeparateTransaction()',
  'error LSP14NotInRenounceOwnershipInterval(uint256 renounceOwnershipStart, uint256 renounceOwnershipEnd)',
  'error CannotTransferOwnershipToSelf()',
  'error NotInRenounceOwnershipInterval(uint256 renounceOwnershipStart, uint256 renounceOwnershipEnd)',
  'error LSP20CallVerificationFailed(bool postCall, bytes4 returnedStatus)',
  'error LSP20InvalidMagicValue(bool postCall, bytes returnedData)',
  'error LSP20CallingVerifierFailed(bool postCall)',
  'error LSP20EOACannotVerifyCall(address logicVerifier)',
  // LSP7 and LSP8
  'error LSP7AmountExceedsAuthorizedAmount(address tokenOwner, uint256 authorizedAmount, address operator, uint256 amount)',
  'error LSP7AmountExceedsBalance(uint256 balance, address tokenOwner, uint256 amount)',
  'error LSP7CannotSendToSelf()',
  'error LSP7CannotSendWithAddressZero()',
  'error LSP7CappedSupplyCannotMintOverCap()',
  'error LSP7InvalidTransferBatch()',
  'error LSP7MintDisabled()',
  'error LSP7NotifyTokenReceiverContractMissingLSP1Interface(address tokenReceiver)',
  'error LSP7NotifyTokenReceiverIsEOA(address tokenReceiver)',
  'error LSP7TransferDisabled()',
  'error LSP8CannotSendToAddressZero()',
  'error LSP8CannotSendToSelf()',
  'error LSP8CappedSupplyCannotMintOverCap()',
  'error LSP8InvalidTransferBatch()',
  'error LSP8MintDisabled()',
  'error LSP8NonExistentTokenId(bytes32 tokenId)',
  'error LSP8NotTokenOperator(bytes32 tokenId, address caller)',
  'error LSP8NotTokenOwner(address tokenOwner, bytes32 tokenId, address caller)',
  'error LSP8NotifyTokenReceiverContractMissingLSP1Interface(address tokenReceiver)',
  'error LSP8NotifyTokenReceiverIsEOA(address tokenReceiver)',
  'error LSP8TokenIdAlreadyMinted(bytes32 tokenId)',
  'error LSP8TransferDisabled()',
  // LSP26
  'error LSP26AlreadyFollowing(address addr)',
  'error LSP26CannotSelfFollow()',
  'error LSP26NotFollowing(address addr)',
  // ERC-20 and ERC-721 (ERC-6093), and who may call a contract
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner)',
  'error ERC721InsufficientApproval(address operator, uint256 tokenId)',
  'error ERC721NonexistentToken(uint256 tokenId)',
  'error AccessControlUnauthorizedAccount(address account, bytes32 neededRole)',
  'error OwnableCallerNotTheOwner(address callerAddress)',
  'error OwnableUnauthorizedAccount(address account)',
])

/** The errors by which a key manager says that this controller may not do this. */
const refusals: ReadonlySet<string> = new Set([
  'NoPermissionsSet',
  'NotAuthorised',
  'NotAllowedCall',
  'NoCallsAllowed',
  'NotAllowedERC725YDataKey',
  'NoERC725YDataKeysAllowed',
  'InvalidWhitelistedCall',
])

/** The errors of Solidity itself, which every interface knows, have arguments without names. */
const solidityArguments: Readonly<Record<string, string>> = { Error: 'message', Panic: 'code' }

/** Decodes revert data. */
export function revertReason(data: string): RevertReason {
  let error: ErrorDescription | null = null
  try {
    error = knownErrors.parseError(data)
  } catch {
    // A known selector with other arguments: somebody else's error.
  }
  if (error === null) return { name: null, args: {}, data }
  const args = Object.fromEntries(
    error.fragment.inputs.map(({ name }, index) => [
      name || (solidityArguments[error.name] ?? index),
      String(error.args[index]),
    ]),
  )
  return { name: error.name, args, data }
}

/** Whether the key manager refuses the controller, rather than the call. */
export function isRefusal({ name }: RevertReason): boolean {
  return name !== null && refusals.has(name)
}

/** One line for people. */
export function describeRevert({ name, args, data }: RevertReason): string {
  if (name === null) return data === '0x' ? 'without a reason' : `with unknown data ${data.slice(0, 10)}`
  if (name === 'Error') return `with '${args['message'] ?? ''}'`
  const list = Object.entries(args).map(
    ([key, value]) => `${key} ${value.length > 80 ? `${value.slice(0, 77)}…` : value}`,
  )
  return `with ${name}${list.length > 0 ? ` (${list.join(', ')})` : ''}`
}
