// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

/// @title Runs sequences of calls on one state, each as if it were alone.
/// @notice Never deployed: its code is lent to an address for the length of an eth_call (state override).
/// Every sequence runs in a frame that reverts, so that it neither sees nor warms what another one touched.
contract Sequences {
    struct Step {
        address to;
        /// The most gas that the call gets.
        uint256 gasLimit;
        bytes data;
    }

    struct Outcome {
        /// False: the gas of this eth_call did not suffice; nothing of the sequence after it ran either.
        bool ran;
        bool success;
        /// Of the call itself, with a cold address; without the costs of a transaction.
        uint256 gasUsed;
        /// At most MAX_RETURN_DATA bytes of it.
        bytes returnData;
    }

    /// Whoever is called cannot make the answer larger than this.
    uint256 private constant MAX_RETURN_DATA = 1024;

    /// Gas for the loop itself around a step.
    uint256 private constant RESERVE = 50_000;

    /// @param strict Whether a step runs only if its whole gas limit is left; else it gets what there is.
    function run(Step[][] calldata sequences, bool strict) external returns (Outcome[][] memory outcomes) {
        outcomes = new Outcome[][](sequences.length);
        for (uint256 i = 0; i < sequences.length; i++) {
            outcomes[i] = new Outcome[](sequences[i].length);
            if (gasleft() < RESERVE * 2) continue;
            try this.runAndRevert(sequences[i], strict) {} catch (bytes memory result) {
                // Empty when the frame itself ran out of gas: then nothing of it ran.
                if (result.length > 0) outcomes[i] = abi.decode(result, (Outcome[]));
            }
        }
    }

    function runAndRevert(Step[] calldata steps, bool strict) external {
        Outcome[] memory outcomes = new Outcome[](steps.length);
        for (uint256 i = 0; i < steps.length; i++) {
            uint256 available = gasleft() - gasleft() / 64;
            if (available < RESERVE || (strict && available < steps[i].gasLimit + RESERVE)) break;
            outcomes[i] = runStep(steps[i].to, steps[i].gasLimit, steps[i].data);
        }
        bytes memory result = abi.encode(outcomes);
        assembly {
            revert(add(result, 0x20), mload(result))
        }
    }

    function runStep(address to, uint256 gasLimit, bytes memory data) private returns (Outcome memory outcome) {
        bool success;
        bytes memory returnData;
        uint256 gasUsed = gasleft();
        assembly {
            success := call(gasLimit, to, 0, add(data, 0x20), mload(data), 0, 0)
        }
        gasUsed -= gasleft();
        assembly {
            let size := returndatasize()
            if gt(size, MAX_RETURN_DATA) {
                size := MAX_RETURN_DATA
            }
            returnData := mload(0x40)
            mstore(0x40, add(returnData, and(add(size, 0x3f), not(0x1f))))
            mstore(returnData, size)
            returndatacopy(add(returnData, 0x20), 0, size)
        }
        outcome = Outcome(true, success, gasUsed, returnData);
    }
}
