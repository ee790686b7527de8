// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

/// @title One of the two contracts whose logs stand in turn in one block.
contract PairedEmitter {
    /// @dev `group` is the last decimal digit of `sequence`.
    event Paired(uint256 indexed sequence, uint256 indexed group, bytes data);

    /// @notice Emits `count` logs with consecutive sequence numbers.
    function emitLogs(uint256 first, uint256 count, bytes calldata data) external {
        for (uint256 sequence = first; sequence < first + count; ++sequence) {
            emit Paired(sequence, sequence % 10, data);
        }
    }
}

/**
 * @title Emits logs of two contracts in one transaction, some with more data than fits into a kilobyte.
 * @dev Logs without topics and data come first, from this contract: they cost least and raise the log indexes of the
 * others.
 */
contract LogPair {
    PairedEmitter public immutable one = new PairedEmitter();
    PairedEmitter public immutable other = new PairedEmitter();

    /**
     * @param blanks Logs of this contract, before all others.
     * @param rounds In each, both contracts emit `each` logs: first one, then the other.
     * @param longBytes Data of the logs of the first round, in bytes; the others have none.
     */
    function emitPairs(uint256 blanks, uint256 rounds, uint256 each, uint256 longBytes) external {
        for (uint256 blank = 0; blank < blanks; ++blank) {
            assembly {
                log0(0, 0)
            }
        }
        for (uint256 round = 0; round < rounds; ++round) {
            bytes memory data = round == 0 ? filled(longBytes) : bytes("");
            one.emitLogs(round * 2 * each, each, data);
            other.emitLogs((round * 2 + 1) * each, each, data);
        }
    }

    /// @dev No two words of it are alike: what is cut or mixed up shows.
    function filled(uint256 length) private pure returns (bytes memory data) {
        data = new bytes(length);
        for (uint256 word = 0; word + 32 <= length; word += 32) {
            assembly {
                mstore(add(add(data, 32), word), not(word))
            }
        }
    }
}
