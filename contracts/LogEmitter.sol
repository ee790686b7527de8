// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

/**
 * @title Emits as many logs as asked for, in one transaction.
 * @dev Two event kinds and three indexed topics, so that every form of an eth_getLogs filter can be told apart: a topic,
 * alternatives (OR), a wildcard. One log costs about 2,500 gas: more than 6,000 fit into one transaction under the cap of
 * EIP-7825 (2^24 gas).
 */
contract LogEmitter {
    /// @dev Logs with an even sequence number. `group` is the last decimal digit of `sequence`.
    event Even(uint256 indexed sequence, uint256 indexed group, address indexed caller, bytes32 data);

    /// @dev Logs with an odd sequence number.
    event Odd(uint256 indexed sequence, uint256 indexed group, address indexed caller, bytes32 data);

    /// @notice How many logs this contract has emitted: the sequence number of the next one.
    uint256 public emitted;

    /// @notice Emits `count` logs with consecutive sequence numbers.
    function emitLogs(uint256 count) external {
        uint256 first = emitted;
        uint256 end = first + count;
        emitted = end;
        for (uint256 sequence = first; sequence < end; ) {
            bytes32 data = bytes32(sequence);
            if (sequence & 1 == 0) emit Even(sequence, sequence % 10, msg.sender, data);
            else emit Odd(sequence, sequence % 10, msg.sender, data);
            unchecked {
                ++sequence;
            }
        }
    }
}
