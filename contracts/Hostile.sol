// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

/// @title What a bundle of relay calls may meet in tests: calls that do everything but behave.
contract Hostile {
    /// @notice What the last call saw of its sender, and with how much gas it began.
    address public lastSender;
    address public lastOrigin;
    uint256 public lastGas;

    /// @notice Succeeds, and writes down who called.
    function look() external {
        lastGas = gasleft();
        lastSender = msg.sender;
        lastOrigin = tx.origin;
    }

    /// @notice Reverts with this many bytes.
    function bomb(uint256 length) external pure {
        assembly {
            revert(0, length)
        }
    }

    /// @notice Returns this many bytes.
    function flood(uint256 length) external pure {
        assembly {
            return(0, length)
        }
    }

    /// @notice Uses up all gas that it gets.
    function burn() external pure {
        while (true) {}
    }

    /// @notice Uses up all gas that it gets, at once.
    function invalid() external pure {
        assembly {
            invalid()
        }
    }

    /// @notice Calls back, with any data, so that the bundler emits events of our choice.
    function reenter(address bundler, bytes calldata data, bool fails) external {
        (bool success, ) = bundler.call(data);
        require(success && !fails, "re-entered in vain");
    }

    /// @notice Emits an event of the same kind from this address.
    function forge(bytes32 topic, bytes calldata data) external {
        bytes memory copy = data;
        assembly {
            log1(add(copy, 32), mload(copy), topic)
        }
    }
}
