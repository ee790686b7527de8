// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

/// @title What a profile calls in tests: calls that leave a trace, refuse in every way, or cost what they are told to.
contract Target {
    event Called(address indexed caller, uint256 value, uint256 calls);

    error Refused(address caller, uint256 reason);

    /// @notice How many calls have succeeded.
    uint256 public calls;

    /// @notice The argument of the last call that succeeded.
    uint256 public lastValue;

    receive() external payable {}

    /// @notice Succeeds, and leaves a state and an event behind.
    function succeed(uint256 value) external payable returns (uint256) {
        lastValue = value;
        emit Called(msg.sender, value, ++calls);
        return calls;
    }

    /// @notice Reverts with a custom error that has arguments.
    function refuse(uint256 reason) external payable {
        revert Refused(msg.sender, reason);
    }

    /// @notice Reverts with a string.
    function refuseWithText(string calldata text) external payable {
        revert(text);
    }

    /// @notice Reverts without any data.
    function refuseSilently() external payable {
        revert();
    }

    /// @notice Uses at least `amount` gas, then succeeds.
    /// @dev Hashes, because development nodes keep a record of each step, and this takes the fewest: one of 6,174 gas.
    function burnGas(uint256 amount) external payable {
        uint256 start = gasleft();
        emit Called(msg.sender, amount, ++calls);
        while (start - gasleft() < amount) {
            assembly ("memory-safe") {
                mstore(mload(0x40), keccak256(mload(0x40), 0x8000))
            }
        }
    }
}
