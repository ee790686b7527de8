// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

/**
 * @title Makes several calls in one transaction, so that they share its cost. A call that fails costs the others nothing.
 * @dev The contract has no storage, no owner, no funds and no rights: whoever calls it, or is called by it and calls it
 * again, gains nothing. Every call carries no value, and gets exactly the gas that is written beside it.
 *
 * A call may re-enter this contract, and so make it emit `Bundled` with results of its choice. The results of the
 * transaction are those of the last `Bundled` of this contract in its receipt: the outermost frame emits after all others.
 */
contract Bundler {
    /**
     * @param results Eight bytes for each call that was made, in order: success (1) and gas used (7), with the cost of the
     * CALL instruction. A call that is missing was not made, since the transaction had not enough gas left for its limit.
     */
    event Bundled(bytes results);

    /// @dev What `calls` says of a call is cut off.
    error Malformed();

    /// @param calls For each call: to (20 bytes), gas limit (8), length of the data (4), data.
    function execute(bytes calldata calls) external {
        bytes32 topic = Bundled.selector;
        bytes4 malformed = Malformed.selector;
        assembly ("memory-safe") {
            // Gas for what lies around a call, the event at the end included.
            let reserve := 10000
            let at := calls.offset
            let end := add(at, calls.length)
            // The event's data: offset, length, results. A record has 32 bytes at least and its result eight, so the data
            // of the calls can be copied behind a quarter of the length of all records.
            let start := mload(0x40)
            let out := add(start, 0x40)
            let buffer := add(add(out, shr(2, calls.length)), 0x20)

            for {} lt(at, end) {} {
                let head := calldataload(at)
                let gasLimit := and(shr(32, head), 0xffffffffffffffff)
                let length := and(head, 0xffffffff)
                at := add(at, 32)
                if gt(add(at, length), end) {
                    mstore(0, malformed)
                    revert(0, 4)
                }
                calldatacopy(buffer, at, length)
                at := add(at, length)
                // A call gets at most 63 of 64 parts of what is left (EIP-150). It is never made with less than its limit.
                let available := gas()
                available := sub(available, shr(6, available))
                if lt(available, add(gasLimit, reserve)) {
                    break
                }
                let used := gas()
                // Nothing of what it returns is copied: it may be of any length.
                let success := call(gasLimit, shr(96, head), 0, buffer, length, 0, 0)
                used := sub(used, gas())
                mstore(out, or(shl(248, success), shl(192, used)))
                out := add(out, 8)
            }

            mstore(start, 0x20)
            let size := sub(out, add(start, 0x40))
            mstore(add(start, 0x20), size)
            // The bytes behind the results are those of the last word that was written: zeros.
            log1(start, add(0x40, and(add(size, 31), not(31))), topic)
        }
    }
}
