// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

/// @title What poses in tests as a key manager, as a profile, or as both at once.
contract Impostor {
    /// @notice As a key manager: the profile that it claims to control.
    address public target;

    /// @notice As a profile: its key manager.
    address public owner;

    /// @notice How often a relay call was executed.
    uint256 public calls;

    bool private misleads;

    constructor(address target_, address owner_) {
        target = target_ == address(0) ? address(this) : target_;
        owner = owner_ == address(0) ? address(this) : owner_;
    }

    receive() external payable {}

    /// @notice From now on relay calls revert when they are mined, though they succeed when they are tried.
    function mislead(bool whether) external {
        misleads = whether;
    }

    /// @notice As a key manager, claims to control another profile.
    function claim(address profile) external {
        target = profile;
    }

    /// @notice Calls anybody: to accept a profile and to hand it on, as a key manager does.
    function forward(address to, bytes calldata data) external payable {
        (bool success, ) = to.call{value: msg.value}(data);
        require(success, "forwarded in vain");
    }

    /// @notice ERC-165: everything but LSP1, which profiles would speak to.
    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id != 0x6bb56a14;
    }

    /// @notice ERC-725Y: every permission for everybody.
    function getData(bytes32) external pure returns (bytes memory) {
        return abi.encode(type(uint256).max);
    }

    /// @notice LSP25: every nonce is the next one.
    function getNonce(address, uint128 channel) external pure returns (uint256) {
        return uint256(channel) << 128;
    }

    /// @notice LSP25: asks nobody, and does nothing.
    function executeRelayCall(bytes calldata, uint256, uint256, bytes calldata) external payable returns (bytes memory) {
        // Only who tries pays nothing for gas.
        require(!misleads || tx.gasprice == 0, "not as it seemed");
        calls++;
        return "";
    }
}
