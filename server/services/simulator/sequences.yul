// SPDX-License-Identifier: Apache-2.0
//
// Runs sequences of calls on one state, each as if it were alone. Never deployed: the code is lent to an address for
// the length of an eth_call (state override). Every sequence runs in a frame that reverts, so that it neither sees nor
// warms what another one touched.
//
// In Yul, and with formats of its own, because development nodes trace every instruction: the same in Solidity took
// ten times the instructions of the relay calls themselves.
//
//   call data   strict (1) ‖ for each sequence: length (4) ‖ steps
//   step        to (20) ‖ gas limit (8) ‖ length (4) ‖ data
//   result      for each sequence: length (4) ‖ outcomes; an outcome that is missing did not run
//   outcome     success (1) ‖ zeros (7) ‖ gas used (8) ‖ zeros (12) ‖ length (4) ‖ return data
object "Sequences" {
  code {
    // Gas for what lies around a step.
    let reserve := 50000
    // Whoever is called cannot make the answer larger than this.
    let maxReturnData := 1024

    let strict := byte(0, calldataload(0))
    let at := 1
    let out := 0

    if eq(caller(), address()) {
      for {} lt(at, calldatasize()) {} {
        let head := calldataload(at)
        let gasLimit := and(shr(32, head), 0xffffffffffffffff)
        let length := and(head, 0xffffffff)
        at := add(at, 32)
        // A call gets at most 63 of 64 parts of what is left.
        let available := gas()
        available := sub(available, shr(6, available))
        if lt(available, add(reserve, mul(strict, gasLimit))) { break }

        calldatacopy(add(out, 32), at, length)
        at := add(at, length)
        let used := gas()
        let success := call(gasLimit, shr(96, head), 0, add(out, 32), length, 0, 0)
        used := sub(used, gas())
        let size := returndatasize()
        if gt(size, maxReturnData) { size := maxReturnData }
        mstore(out, or(shl(248, success), or(shl(128, used), size)))
        returndatacopy(add(out, 32), 0, size)
        out := add(add(out, 32), size)
      }
      revert(0, out)
    }

    for {} lt(at, calldatasize()) {} {
      let length := shr(224, calldataload(at))
      at := add(at, 4)
      mstore8(add(out, 4), strict)
      calldatacopy(add(out, 5), at, length)
      at := add(at, length)
      pop(call(gas(), address(), 0, add(out, 4), add(length, 1), 0, 0))
      // Nothing, when the frame itself ran out of gas.
      let size := returndatasize()
      mstore(out, shl(224, size))
      returndatacopy(add(out, 4), 0, size)
      out := add(add(out, 4), size)
    }
    return(0, out)
  }
}
