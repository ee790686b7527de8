// Made by `npm run generate`. Never edited: change the schemas in specs/schemas/ instead.

export interface paths {
    readonly "/execute": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Execute a signed relay call
         * @description - The service takes POST {relay_url}/execute with the documented body and succeeds: any status of success, with a nonce of channel 0. (`relay.execute.post`)
         *     - The response of POST /execute carries transactionHash, a hex string of 32 bytes, with or without 0x; a call that was executed is answered with it. (`relay.execute.response`)
         *     - transactionHash is the hash of the transaction, as the service calculates it: the chain comes to know the transaction that executed the call by that hash. A hash that is told for a refused call as well must be that of a transaction: one that the chain never sees says what is not true. (`relay.execute.hash-of-transaction`)
         *     - The service executes the signed call by calling executeRelayCall() on the key manager of the profile, with the signature, nonce and payload of the request. (`relay.execute.execute-relay-call`)
         *     - The signed call is executed on behalf of the profile: its effect is that of the profile at address, and with the address of anything else nothing is executed. (`relay.execute.on-behalf`)
         *     - The signed message in the request authenticates POST /execute; no separate credential is needed: a validly signed call is not answered with 401, 403 or 407, neither at first nor now and then. (`relay.execute.signature-authenticates`)
         *     - A request whose signature is not a controller’s over this relay message (another signer, payload, nonce, key manager or chain; a truncated or all-zero signature, that of another call) executes nothing, neither at once nor until the run ends. (`relay.execute.bad-signature`)
         *     - address is required in the body of POST /execute: without it there is no transactionHash, but for zeros, or in an error the hash of no transaction. (`relay.execute.requires-address`)
         *     - transaction is required in the body of POST /execute: without it there is no transactionHash. (`relay.execute.requires-transaction`)
         *     - transaction.abi is required in the body of POST /execute: without it there is no transactionHash. (`relay.execute.requires-abi`)
         *     - transaction.signature is required in the body of POST /execute: without it there is no transactionHash. (`relay.execute.requires-signature`)
         *     - transaction.nonce is required in the body of POST /execute: without it there is no transactionHash. (`relay.execute.requires-nonce`)
         *     - address is a string that holds a hex address; a value of another type or form gets no transactionHash. (`relay.execute.address-hex`)
         *     - transaction.abi is a hex string, the encoded call data of the relayed call; a value of another type or form gets no transactionHash. (`relay.execute.abi-hex`)
         *     - transaction.signature is a hex string; a value of another type or form gets no transactionHash. (`relay.execute.signature-hex`)
         *     - transaction.nonce is an integer; a value that is none (a fraction, a boolean, words, an object) gets no transactionHash. (`relay.execute.nonce-integer`)
         *     - transaction.nonce is the nonce of the profile’s key manager contract: a nonce that is already used there executes nothing anew. The answer may be a refusal, or the hash of the transaction that used it. (`relay.execute.key-manager-nonce`)
         */
        readonly post: operations["execute"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/quota": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Ask for the quota left
         * @description - The service takes POST {relay_url}/quota with the documented body and answers with the quota left for a registered profile, each time that a valid message is sent; whether the same message is served twice, or one that is older than the last, is not said. (Whose address it is could be read two ways, since a controller signs; the field table and the permission rule both say the profile’s, and that reading is judged.) (`relay.quota.post`)
         *     - quota is a number: the balance left, in the unit that unit names. (`relay.quota.quota-number`)
         *     - unit is one of the strings gas, lyx and transactionCount. (`relay.quota.unit`)
         *     - totalQuota is a number, the total limit; only a pay-as-you-go model may omit it. (`relay.quota.total-quota`)
         *     - totalQuota is the available quota plus what was used since the last reset: it is never below quota, and an execution lowers quota by what it used and leaves totalQuota as it is. How a service books is its own: at least half of the gas for gas, one for transactionCount and anything for lyx, in an amount that the unit can mean. Use is judged as it is shown by the receipt timeout of the run, 30 seconds at most: a service that gives every small call for free, or books later, shows no use, and the first calls may be free, since three are tried; so does one whose quota is again what it was before the run, while resetDate lies ahead. (`relay.quota.total-is-available-plus-used`)
         *     - resetDate is an integer, the timestamp at which the available quota resets; only a pay-as-you-go model may omit it. (`relay.quota.reset-date`)
         *     - The signature of POST /quota is over keccak256 of address (the profile’s, as in the body) and timestamp (uint256) in solidity packing, hashed once more by the signing library as a personal message (EIP-191). The document calls this an "EIP-712 style hash", which read by itself would be something else; the packed-hash function and the libraries that hash by themselves decide for this reading. (`relay.quota.hash`)
         *     - The signer recovered from the signature must hold the SIGN permission on the profile at address: a controller that holds it is served; a controller without it and a stranger are refused, and so is every controller at an address where it holds none. (`relay.quota.sign-permission`)
         *     - The service reconstructs the message from address and timestamp of the request: a signature over another address or another timestamp, or one that was tampered with, is refused: no amount is told but zero. (`relay.quota.bound-to-message`)
         *     - timestamp must be the current time within plus or minus 5 seconds: now is served, 30 seconds, an hour and a day ago and ahead and a time of zero are refused, and the served timestamps reach over 10 seconds, from 8.5 to 12.5 with the rounding to whole seconds. The width is judged, which no clock can excuse; where the middle lies is observed. (`relay.quota.window`)
         *     - timestamp is a time in seconds: it is served, and the same time in milliseconds is refused. (`relay.quota.timestamp-seconds`)
         *     - timestamp must be of integer type: a string, a fraction and a boolean are refused. (`relay.quota.timestamp-integer`)
         *     - address is required in the body of POST /quota: without it there is no quota. (`relay.quota.requires-address`)
         *     - timestamp is required in the body of POST /quota: without it there is no quota. (`relay.quota.requires-timestamp`)
         *     - signature is required in the body of POST /quota: without it there is no quota. (`relay.quota.requires-signature`)
         */
        readonly post: operations["quota"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/transactions/{hash}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Ask what became of a relayed call
         * @description An addition: no part of the documents. Answers for the hash of any attempt.
         */
        readonly get: operations["transactionStatus"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/eth-rpc": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Call a JSON-RPC method of an Ethereum node
         * @description - The service answers HTTP POST to {base_url}/api/eth-rpc with the request envelope as payload; a served request has the one documented response, the successful operation: a status of success (2xx; 200 in the standard’s transport, but the document names no number), each time that the same request is made. (`eth-rpc.endpoint.post`)
         *     - A request in the exact format of an Ethereum node is served as it stands: a client needs to change nothing in it. The order of members and white space are free in that format; which content types are taken beside application/json is not shown. (`eth-rpc.endpoint.standard-format`)
         *     - Only the listed methods are supported: a method that is not in the list yields no result, neither alone nor in a batch. Names are compared letter by letter, as the standard’s are: a listed name in another case or with white space is not in the list. How it is refused is not shown: an error beside a result, a status of failure and a result of null are refusals. A method beyond the list that has a clause of its own in this catalogue is not tried. (`eth-rpc.methods.unlisted-refused`)
         *     - The request carries an integer id that the client chooses as the identifier of its request; any such id is accepted. Beyond 2^53 an id may be refused. Where the response carries an id (the document does not show its envelope), it is the identifier of this request, with all of its digits, and not another one. (`eth-rpc.envelope.id-integer`)
         *     - The request carries jsonrpc with the value "2.0", the version of the protocol; such a request is accepted. (`eth-rpc.envelope.version`)
         *     - params is an array that holds the parameters of the method by position. (`eth-rpc.envelope.params-positional`)
         *     - A method without parameters is served when params is an empty array. (`eth-rpc.envelope.params-empty`)
         *     - Data of 20 bytes, hex-encoded, names an address; lower case and checksummed case are both accepted and name the same one. (`eth-rpc.types.address`)
         *     - Data of 32 bytes, hex-encoded (0x before the digits, in lower case, as the standard writes it), names a transaction. Whether another spelling of it does, without 0x or in capitals, is not shown. (`eth-rpc.types.hash`)
         *     - Where a block is asked for, each of the strings "latest", "earliest" and "pending" is accepted. Since "earliest" is said not to work as expected, and errors are not shown, any answer to it is right. (`eth-rpc.types.block-tags`)
         *     - Where a block is asked for, a block number is accepted, written as the quantity of the standard (hex with 0x, no leading zeros). The state of blocks more than 64 before the head may be gone. (`eth-rpc.types.block-number`)
         *     - eth_blockNumber with empty params answers with the number of the head block of the chain. That the number is of the same moment as another node’s is not shown: two blocks beside it are right, for services that index blocks, or wait for one on top of them, and what a service has kept for some seconds is too. From one answer to the next the number does not fall by more than what nodes are behind each other. (`eth-rpc.eth_blockNumber.success`)
         *     - eth_chainId with empty params answers with the identifier of the chain. (`eth-rpc.eth_chainId.success`)
         *     - eth_gasPrice with empty params answers with the average price per gas, in wei: what transactions pay, base fee and tip together. Over which blocks, and how, is not shown: from a twentieth of the lowest price to twenty times the highest that the chain shows, any is right, and zero only where nothing costs. (`eth-rpc.eth_gasPrice.success`)
         *     - eth_maxPriorityFeePerGas with empty params answers with a priority fee, in wei. How it is found is not shown: any fee up to twenty times the highest tip that the chain shows (or that of a usual node, one gwei) is right, zero among them. On a chain without base fees (before EIP-1559) there is none, and an error is right as well. (`eth-rpc.eth_maxPriorityFeePerGas.success`)
         *     - eth_getBalance with an address and a block number or tag answers with the balance of that address at that block, to the last wei. At "latest" that of one of the last blocks is right; at "pending" that of one of the last blocks, or with what waits to be mined. The state of blocks more than 64 before the head may be gone; while a balance has not changed since the first block, whose balances are not imported, none or nothing is right as well. (`eth-rpc.eth_getBalance.success`)
         *     - eth_getLogs with a filter object answers with the log entries of the chain that the filter selects, in pages of any size up to 1000 and in any order; those of a young block some seconds after it. What an entry says is what the chain says; which members it has is not shown, nor how numbers and bytes are written (bare hex and JSON integers among them), and null may stand for no entries. The fields of the filter are not shown: a form (no address and no topics, tags for blocks, many addresses) may be refused as long as an address with the numbers of a first and a last block is not; a form that is served (fromBlock "earliest", no toBlock) means what it means in the standard. (`eth-rpc.eth_getLogs.success`)
         *     - A response of eth_getLogs never holds more than 1000 log entries, whatever the filter, and on every page. (`eth-rpc.eth_getLogs.max-1000`)
         *     - When more entries exist, the same request with pagination options that hold logIndex and blockNumber of the last log received answers with the next page of the same filter: what comes after that log, without gap or repeat, also inside one block. Neither the container of the options nor the third key is shown: where no known way leads on, nothing is judged; where the keys are read, they lead on. (`eth-rpc.eth_getLogs.next-page`)
         *     - The values of logIndex and blockNumber are hex strings taken from the last log entry; as they stand in that entry they are accepted. Where an entry holds JSON integers instead, which no document forbids, the hex strings that a client makes of them are. (`eth-rpc.eth_getLogs.page-keys-verbatim`)
         *     - eth_getTransactionByHash with the hash of a known transaction answers with that transaction, of whatever type: what it says of it is what the chain says, some seconds after it was mined at the latest. Which members it has, and how they are written, is not shown. (`eth-rpc.eth_getTransactionByHash.success`)
         *     - eth_getTransactionReceipt with the hash of a known transaction answers with the receipt of that transaction, of whatever type, reverted ones and those that create a contract among them: what it says of it is what the chain says, some seconds after it was mined at the latest. Which members it has, how they are written (the status in words as well) and the order of its logs are not shown. (`eth-rpc.eth_getTransactionReceipt.success`)
         *
         *     JSON-RPC errors are answered with HTTP 200:
         *
         *     - `-32005` (RATE_LIMITED): Too many requests; Retry-After says when to come back.
         *     - `-32603` (INTERNAL): The service failed by its own fault; the log holds the cause under the id of the request.
         *     - `-32000` (UPSTREAM_UNAVAILABLE): No node behind the service answers in time, or with what was asked for; or the database is away, full or read-only. Retry-After says when to come back.
         *     - `-32700` (RPC_PARSE_ERROR): The body of a JSON-RPC request is empty, not UTF-8 or not JSON.
         *     - `-32600` (RPC_INVALID_REQUEST): The JSON is no JSON-RPC 2.0 request: no object, no id, another version, no method name, nested too deep, or a batch beyond the cap.
         *     - `-32601` (RPC_METHOD_NOT_FOUND): The service does not support the method. The words are those of geth, which clients recognise; the reason is the method's name.
         *     - `-32602` (RPC_INVALID_PARAMS): The params of the method are no array, too few, too many, or malformed; data names each fault.
         *     - `-32001` (RPC_RESOURCE_NOT_FOUND): The block that was asked for is not part of the chain: never was, not yet, or no longer since a reorganisation.
         *     - `-32003` (RPC_RESPONSE_TOO_LARGE): The answers of a batch, or the logs of one block, exceed what can be answered at once.
         *     - `-32603` (RPC_INTERNAL): The service failed by its own fault. Clients try again on this code: never used for what would fail again.
         *     - `-32005` (RPC_LIMIT_EXCEEDED): Too many requests for now. Clients try again on this code: never used for what would fail again.
         *     - `-32000` (RPC_SERVER_ERROR): The node behind the service refused the request or answered with what is no valid result.
         */
        readonly post: operations["ethRpc"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * address
         * @description Data of 20 bytes in any letter case.
         * @example 0x5FbDB2315678afecb367f032d93F642f64180aa3
         * @example 0x5fbdb2315678afecb367f032d93f642f64180aa3
         */
        readonly "common.address": string;
        /**
         * block number
         * @description A block by number: the standard's quantity in any letter case, or a JSON integer, since the document speaks of an integer block number.
         * @example 0x0
         * @example 0x1b4
         * @example 436
         */
        readonly "common.blockNumber": string | number;
        /**
         * block
         * @description A block by number (hex with 0x and without leading zeros, or an integer) or by name (latest, earliest, pending, safe or finalized).
         * @example latest
         * @example 0x1b4
         */
        readonly "common.blockNumberOrTag": components["schemas"]["common.blockNumber"] | components["schemas"]["common.blockTag"];
        /**
         * block tag
         * @description A block by name. The document names latest, earliest and pending; safe and finalized are the standard's.
         * @enum {string}
         */
        readonly "common.blockTag": "latest" | "earliest" | "pending" | "safe" | "finalized";
        /**
         * bytes
         * @description Hex-encoded bytes: two digits each, in any letter case.
         * @example 0x
         * @example 0xdeadbeef
         */
        readonly "common.bytes": string;
        /**
         * 32 bytes
         * @description Data of 32 bytes in any letter case: a hash, a topic, a storage key.
         * @example 0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e
         */
        readonly "common.hash32": string;
        /**
         * bytes, lower case
         * @description Hex-encoded bytes as nodes write them.
         */
        readonly "common.lowerBytes": string;
        /**
         * 256 bytes, lower case
         * @description Data of 256 bytes as nodes write it: the bloom filter of logs.
         */
        readonly "common.lowerBytes256": string;
        /**
         * 32 bytes, lower case
         * @description Data of 32 bytes as nodes write it.
         */
        readonly "common.lowerHash32": string;
        /**
         * quantity of at most 256 bits
         * @description Unsigned integer of at most 256 bits in hex without leading zeros.
         * @example 0x0
         * @example 0xde0b6b3a7640000
         */
        readonly "common.uint256": string;
        /**
         * quantity of at most 64 bits
         * @description Unsigned integer of at most 64 bits in hex without leading zeros.
         * @example 0x0
         * @example 0xffffffffffffffff
         */
        readonly "common.uint64": string;
        /**
         * Unix seconds
         * @description A time in seconds since 1970-01-01T00:00:00Z.
         * @example 1767225600
         */
        readonly "common.unixSeconds": number;
        /**
         * Error
         * @description Body of every failed request outside of JSON-RPC.
         * @example {
         *       "code": "NONCE_GAP",
         *       "message": "Nonce gap: expected nonce 5, got 7",
         *       "details": {
         *         "expectedNonce": "5"
         *       },
         *       "broadcast": false
         *     }
         */
        readonly error: {
            /** @description What happened, for programs: a row of the error catalogue. */
            readonly code: string;
            /** @description What happened, for people. Programs branch on code. */
            readonly message: string;
            /** @description Facts for programs: fields and their faults, expected values, decoded contract errors. */
            readonly details: {
                readonly [key: string]: unknown;
            };
            /** @description Whether a transaction was sent. False: the client may safely fall back. */
            readonly broadcast: boolean;
        };
        /**
         * Log
         * @description A log entry of a mined transaction.
         * @example {
         *       "address": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "topics": [
         *         "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
         *       ],
         *       "data": "0x",
         *       "blockHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "blockNumber": "0x1b4",
         *       "transactionHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "transactionIndex": "0x0",
         *       "logIndex": "0x0",
         *       "removed": false
         *     }
         */
        readonly "ethereum.log": {
            /** @description Contract that emitted the log. */
            readonly address: components["schemas"]["common.address"];
            /** @description Indexed data; the first is usually the hash of the event's signature. */
            readonly topics: readonly components["schemas"]["common.lowerHash32"][];
            /** @description Data that is not indexed. */
            readonly data: components["schemas"]["common.lowerBytes"];
            /** @description Hash of the block. */
            readonly blockHash: components["schemas"]["common.lowerHash32"];
            /** @description Number of the block. */
            readonly blockNumber: components["schemas"]["common.uint64"];
            /** @description Time of the block in Unix seconds; younger nodes give it. */
            readonly blockTimestamp?: components["schemas"]["common.uint64"];
            /** @description Hash of the transaction. */
            readonly transactionHash: components["schemas"]["common.lowerHash32"];
            /** @description Index of the transaction in the block. */
            readonly transactionIndex: components["schemas"]["common.uint64"];
            /** @description Index of the log in the block. */
            readonly logIndex: components["schemas"]["common.uint64"];
            /** @description Whether a reorganisation has removed the log. */
            readonly removed?: boolean;
        };
        /**
         * Receipt
         * @description The receipt of a mined transaction of type 0 to 4.
         * @example {
         *       "type": "0x2",
         *       "transactionHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "transactionIndex": "0x0",
         *       "blockHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "blockNumber": "0x1b4",
         *       "from": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "to": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "cumulativeGasUsed": "0x5208",
         *       "gasUsed": "0x5208",
         *       "contractAddress": null,
         *       "logs": [
         *         {
         *           "address": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *           "topics": [
         *             "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
         *           ],
         *           "data": "0x",
         *           "blockHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *           "blockNumber": "0x1b4",
         *           "transactionHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *           "transactionIndex": "0x0",
         *           "logIndex": "0x0",
         *           "removed": false
         *         }
         *       ],
         *       "logsBloom": "0x00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
         *       "status": "0x1",
         *       "effectiveGasPrice": "0x3b9aca00"
         *     }
         * @example {
         *       "transactionHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "transactionIndex": "0x0",
         *       "blockHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "blockNumber": "0x1b4",
         *       "from": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "to": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "cumulativeGasUsed": "0x5208",
         *       "gasUsed": "0x5208",
         *       "contractAddress": null,
         *       "logs": [],
         *       "logsBloom": "0x00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
         *       "effectiveGasPrice": "0x3b9aca00",
         *       "root": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e"
         *     }
         */
        readonly "ethereum.receipt": {
            /**
             * @description Type of the transaction.
             * @enum {string}
             */
            readonly type?: "0x0" | "0x1" | "0x2" | "0x3" | "0x4";
            /** @description Hash of the transaction. */
            readonly transactionHash: components["schemas"]["common.lowerHash32"];
            /** @description Index in the block. */
            readonly transactionIndex: components["schemas"]["common.uint64"];
            /** @description Hash of the block. */
            readonly blockHash: components["schemas"]["common.lowerHash32"];
            /** @description Number of the block. */
            readonly blockNumber: components["schemas"]["common.uint64"];
            /** @description Sender. */
            readonly from: components["schemas"]["common.address"];
            /** @description Receiver; null for a contract creation. */
            readonly to?: null | components["schemas"]["common.address"];
            /** @description Gas used in the block up to and including this transaction. */
            readonly cumulativeGasUsed: components["schemas"]["common.uint64"];
            /** @description Gas used by this transaction. */
            readonly gasUsed: components["schemas"]["common.uint64"];
            /** @description Blob gas used; of blob transactions only. */
            readonly blobGasUsed?: components["schemas"]["common.uint64"];
            /** @description Address of the created contract; null when none was created. */
            readonly contractAddress?: null | components["schemas"]["common.address"];
            /** @description Logs of this transaction. */
            readonly logs: readonly components["schemas"]["ethereum.log"][];
            /** @description Bloom filter of the logs. */
            readonly logsBloom: components["schemas"]["common.lowerBytes256"];
            /** @description State root after the transaction; before Byzantium only. */
            readonly root?: components["schemas"]["common.lowerHash32"];
            /**
             * @description 0x1 success, 0x0 failure; since Byzantium only.
             * @enum {string}
             */
            readonly status?: "0x0" | "0x1";
            /** @description Price per gas that was paid, in wei. */
            readonly effectiveGasPrice: components["schemas"]["common.uint256"];
            /** @description Price per blob gas that was paid, in wei; of blob transactions only. */
            readonly blobGasPrice?: components["schemas"]["common.uint256"];
        } & ({
            readonly status: string;
        } | {
            readonly root: string;
        });
        /**
         * Transaction
         * @description A transaction of type 0 to 4, mined or pending.
         * @example {
         *       "type": "0x0",
         *       "hash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "from": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "blockHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "blockNumber": "0x1b4",
         *       "transactionIndex": "0x0",
         *       "nonce": "0x0",
         *       "to": null,
         *       "gas": "0x5208",
         *       "value": "0x0",
         *       "input": "0x",
         *       "gasPrice": "0x3b9aca00",
         *       "v": "0x1b",
         *       "r": "0x1",
         *       "s": "0x1"
         *     }
         * @example {
         *       "hash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "from": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "blockHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "blockNumber": "0x1b4",
         *       "transactionIndex": "0x0",
         *       "nonce": "0x0",
         *       "to": null,
         *       "gas": "0x5208",
         *       "value": "0x0",
         *       "input": "0x",
         *       "r": "0x1",
         *       "s": "0x1",
         *       "type": "0x1",
         *       "gasPrice": "0x3b9aca00",
         *       "chainId": "0x7a69",
         *       "accessList": [
         *         {
         *           "address": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *           "storageKeys": [
         *             "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e"
         *           ]
         *         }
         *       ],
         *       "yParity": "0x0"
         *     }
         * @example {
         *       "hash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "from": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "blockHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "blockNumber": "0x1b4",
         *       "transactionIndex": "0x0",
         *       "nonce": "0x0",
         *       "to": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "gas": "0x5208",
         *       "value": "0x0",
         *       "input": "0x",
         *       "r": "0x1",
         *       "s": "0x1",
         *       "type": "0x2",
         *       "maxPriorityFeePerGas": "0x3b9aca00",
         *       "maxFeePerGas": "0x77359400",
         *       "gasPrice": "0x3b9aca00",
         *       "chainId": "0x7a69",
         *       "accessList": [],
         *       "yParity": "0x1",
         *       "v": "0x1"
         *     }
         * @example {
         *       "hash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "from": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "blockHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "blockNumber": "0x1b4",
         *       "transactionIndex": "0x0",
         *       "nonce": "0x0",
         *       "to": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "gas": "0x5208",
         *       "value": "0x0",
         *       "input": "0x",
         *       "r": "0x1",
         *       "s": "0x1",
         *       "type": "0x3",
         *       "maxPriorityFeePerGas": "0x3b9aca00",
         *       "maxFeePerGas": "0x77359400",
         *       "gasPrice": "0x3b9aca00",
         *       "chainId": "0x7a69",
         *       "accessList": [],
         *       "yParity": "0x1",
         *       "v": "0x1",
         *       "maxFeePerBlobGas": "0x1",
         *       "blobVersionedHashes": [
         *         "0x01ababababababababababababababababababababababababababababababab"
         *       ]
         *     }
         * @example {
         *       "hash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "from": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "blockHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "blockNumber": "0x1b4",
         *       "transactionIndex": "0x0",
         *       "nonce": "0x0",
         *       "to": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "gas": "0x5208",
         *       "value": "0x0",
         *       "input": "0x",
         *       "r": "0x1",
         *       "s": "0x1",
         *       "type": "0x4",
         *       "maxPriorityFeePerGas": "0x3b9aca00",
         *       "maxFeePerGas": "0x77359400",
         *       "gasPrice": "0x3b9aca00",
         *       "chainId": "0x7a69",
         *       "accessList": [],
         *       "yParity": "0x1",
         *       "v": "0x1",
         *       "authorizationList": [
         *         {
         *           "chainId": "0x0",
         *           "nonce": "0x1",
         *           "address": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *           "yParity": "0x1",
         *           "r": "0x1",
         *           "s": "0x1"
         *         }
         *       ]
         *     }
         * @example {
         *       "hash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "from": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "blockHash": null,
         *       "blockNumber": null,
         *       "transactionIndex": null,
         *       "nonce": "0x0",
         *       "to": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "gas": "0x5208",
         *       "value": "0x0",
         *       "input": "0x",
         *       "r": "0x1",
         *       "s": "0x1",
         *       "type": "0x2",
         *       "maxPriorityFeePerGas": "0x3b9aca00",
         *       "maxFeePerGas": "0x77359400",
         *       "gasPrice": "0x3b9aca00",
         *       "chainId": "0x7a69",
         *       "accessList": [],
         *       "yParity": "0x1",
         *       "v": "0x1"
         *     }
         */
        readonly "ethereum.transaction": components["schemas"]["ethereum.transaction.legacy"] | components["schemas"]["ethereum.transaction.accessListed"] | components["schemas"]["ethereum.transaction.feeMarket"] | components["schemas"]["ethereum.transaction.blob"] | components["schemas"]["ethereum.transaction.setCode"];
        /**
         * AccessList
         * @description Addresses and storage keys that the transaction names beforehand (EIP-2930).
         */
        readonly "ethereum.transaction.accessList": readonly {
            readonly address: components["schemas"]["common.address"];
            readonly storageKeys: readonly components["schemas"]["common.lowerHash32"][];
        }[];
        /** AccessListTransaction */
        readonly "ethereum.transaction.accessListed": {
            /** @constant */
            readonly type: "0x1";
            /** @description Hash of the transaction. */
            readonly hash: components["schemas"]["common.lowerHash32"];
            /** @description Sender. */
            readonly from: components["schemas"]["common.address"];
            /** @description Hash of the block; null while pending. */
            readonly blockHash: null | components["schemas"]["common.lowerHash32"];
            /** @description Number of the block; null while pending. */
            readonly blockNumber: null | components["schemas"]["common.uint64"];
            /** @description Time of the block in Unix seconds; younger nodes give it; null while pending. */
            readonly blockTimestamp?: null | components["schemas"]["common.uint64"];
            /** @description Index in the block; null while pending. */
            readonly transactionIndex: null | components["schemas"]["common.uint64"];
            /** @description Nonce of the sender's account. */
            readonly nonce: components["schemas"]["common.uint64"];
            /** @description Receiver; null for a contract creation. */
            readonly to?: null | components["schemas"]["common.address"];
            /** @description Gas limit. */
            readonly gas: components["schemas"]["common.uint64"];
            /** @description Value in wei. */
            readonly value: components["schemas"]["common.uint256"];
            /** @description Call data, or the init code of a creation. */
            readonly input: components["schemas"]["common.lowerBytes"];
            /** @description Price per gas in wei. */
            readonly gasPrice: components["schemas"]["common.uint256"];
            /** @description Identifier of the chain. */
            readonly chainId: components["schemas"]["common.uint256"];
            readonly accessList: components["schemas"]["ethereum.transaction.accessList"];
            /**
             * @description Parity of the y-value of the signature.
             * @enum {string}
             */
            readonly yParity: "0x0" | "0x1";
            /**
             * @description The same as yParity, deprecated.
             * @enum {string}
             */
            readonly v?: "0x0" | "0x1";
            /** @description r of the signature. */
            readonly r: components["schemas"]["common.uint256"];
            /** @description s of the signature. */
            readonly s: components["schemas"]["common.uint256"];
        };
        /**
         * Authorization
         * @description Signed consent of an account to take over the code at an address.
         */
        readonly "ethereum.transaction.authorization": {
            /** @description Identifier of the chain; 0: any. */
            readonly chainId: components["schemas"]["common.uint256"];
            /** @description Nonce of the account. */
            readonly nonce: components["schemas"]["common.uint64"];
            /** @description Where the code stands. */
            readonly address: components["schemas"]["common.address"];
            /** @description Parity of the y-value of the signature. */
            readonly yParity: string;
            /** @description r of the signature. */
            readonly r: components["schemas"]["common.uint256"];
            /** @description s of the signature. */
            readonly s: components["schemas"]["common.uint256"];
        };
        /** BlobTransaction */
        readonly "ethereum.transaction.blob": {
            /** @constant */
            readonly type: "0x3";
            /** @description Hash of the transaction. */
            readonly hash: components["schemas"]["common.lowerHash32"];
            /** @description Sender. */
            readonly from: components["schemas"]["common.address"];
            /** @description Hash of the block; null while pending. */
            readonly blockHash: null | components["schemas"]["common.lowerHash32"];
            /** @description Number of the block; null while pending. */
            readonly blockNumber: null | components["schemas"]["common.uint64"];
            /** @description Time of the block in Unix seconds; younger nodes give it; null while pending. */
            readonly blockTimestamp?: null | components["schemas"]["common.uint64"];
            /** @description Index in the block; null while pending. */
            readonly transactionIndex: null | components["schemas"]["common.uint64"];
            /** @description Nonce of the sender's account. */
            readonly nonce: components["schemas"]["common.uint64"];
            /** @description Receiver. */
            readonly to: components["schemas"]["common.address"];
            /** @description Gas limit. */
            readonly gas: components["schemas"]["common.uint64"];
            /** @description Value in wei. */
            readonly value: components["schemas"]["common.uint256"];
            /** @description Call data, or the init code of a creation. */
            readonly input: components["schemas"]["common.lowerBytes"];
            /** @description Maximum priority fee per gas in wei. */
            readonly maxPriorityFeePerGas: components["schemas"]["common.uint256"];
            /** @description Maximum fee per gas in wei, base fee included. */
            readonly maxFeePerGas: components["schemas"]["common.uint256"];
            /** @description Effective price per gas in wei; while pending, the maximum. Deprecated by the standard in favour of the receipt's. */
            readonly gasPrice?: components["schemas"]["common.uint256"];
            /** @description Maximum fee per blob gas in wei. */
            readonly maxFeePerBlobGas: components["schemas"]["common.uint256"];
            /** @description Versioned hashes of the blobs. */
            readonly blobVersionedHashes: readonly components["schemas"]["common.lowerHash32"][];
            /** @description Identifier of the chain. */
            readonly chainId: components["schemas"]["common.uint256"];
            readonly accessList: components["schemas"]["ethereum.transaction.accessList"];
            /**
             * @description Parity of the y-value of the signature.
             * @enum {string}
             */
            readonly yParity: "0x0" | "0x1";
            /**
             * @description The same as yParity, deprecated.
             * @enum {string}
             */
            readonly v?: "0x0" | "0x1";
            /** @description r of the signature. */
            readonly r: components["schemas"]["common.uint256"];
            /** @description s of the signature. */
            readonly s: components["schemas"]["common.uint256"];
        };
        /** FeeMarketTransaction */
        readonly "ethereum.transaction.feeMarket": {
            /** @constant */
            readonly type: "0x2";
            /** @description Hash of the transaction. */
            readonly hash: components["schemas"]["common.lowerHash32"];
            /** @description Sender. */
            readonly from: components["schemas"]["common.address"];
            /** @description Hash of the block; null while pending. */
            readonly blockHash: null | components["schemas"]["common.lowerHash32"];
            /** @description Number of the block; null while pending. */
            readonly blockNumber: null | components["schemas"]["common.uint64"];
            /** @description Time of the block in Unix seconds; younger nodes give it; null while pending. */
            readonly blockTimestamp?: null | components["schemas"]["common.uint64"];
            /** @description Index in the block; null while pending. */
            readonly transactionIndex: null | components["schemas"]["common.uint64"];
            /** @description Nonce of the sender's account. */
            readonly nonce: components["schemas"]["common.uint64"];
            /** @description Receiver; null for a contract creation. */
            readonly to?: null | components["schemas"]["common.address"];
            /** @description Gas limit. */
            readonly gas: components["schemas"]["common.uint64"];
            /** @description Value in wei. */
            readonly value: components["schemas"]["common.uint256"];
            /** @description Call data, or the init code of a creation. */
            readonly input: components["schemas"]["common.lowerBytes"];
            /** @description Maximum priority fee per gas in wei. */
            readonly maxPriorityFeePerGas: components["schemas"]["common.uint256"];
            /** @description Maximum fee per gas in wei, base fee included. */
            readonly maxFeePerGas: components["schemas"]["common.uint256"];
            /** @description Effective price per gas in wei; while pending, the maximum. Deprecated by the standard in favour of the receipt's. */
            readonly gasPrice: components["schemas"]["common.uint256"];
            /** @description Identifier of the chain. */
            readonly chainId: components["schemas"]["common.uint256"];
            readonly accessList: components["schemas"]["ethereum.transaction.accessList"];
            /**
             * @description Parity of the y-value of the signature.
             * @enum {string}
             */
            readonly yParity: "0x0" | "0x1";
            /**
             * @description The same as yParity, deprecated.
             * @enum {string}
             */
            readonly v?: "0x0" | "0x1";
            /** @description r of the signature. */
            readonly r: components["schemas"]["common.uint256"];
            /** @description s of the signature. */
            readonly s: components["schemas"]["common.uint256"];
        };
        /** LegacyTransaction */
        readonly "ethereum.transaction.legacy": {
            /** @constant */
            readonly type: "0x0";
            /** @description Hash of the transaction. */
            readonly hash: components["schemas"]["common.lowerHash32"];
            /** @description Sender. */
            readonly from: components["schemas"]["common.address"];
            /** @description Hash of the block; null while pending. */
            readonly blockHash: null | components["schemas"]["common.lowerHash32"];
            /** @description Number of the block; null while pending. */
            readonly blockNumber: null | components["schemas"]["common.uint64"];
            /** @description Time of the block in Unix seconds; younger nodes give it; null while pending. */
            readonly blockTimestamp?: null | components["schemas"]["common.uint64"];
            /** @description Index in the block; null while pending. */
            readonly transactionIndex: null | components["schemas"]["common.uint64"];
            /** @description Nonce of the sender's account. */
            readonly nonce: components["schemas"]["common.uint64"];
            /** @description Receiver; null for a contract creation. */
            readonly to?: null | components["schemas"]["common.address"];
            /** @description Gas limit. */
            readonly gas: components["schemas"]["common.uint64"];
            /** @description Value in wei. */
            readonly value: components["schemas"]["common.uint256"];
            /** @description Call data, or the init code of a creation. */
            readonly input: components["schemas"]["common.lowerBytes"];
            /** @description Price per gas in wei. */
            readonly gasPrice: components["schemas"]["common.uint256"];
            /** @description Identifier of the chain; absent before EIP-155. */
            readonly chainId?: components["schemas"]["common.uint256"];
            /** @description Recovery value, with the chain's identifier since EIP-155. */
            readonly v: components["schemas"]["common.uint256"];
            /** @description r of the signature. */
            readonly r: components["schemas"]["common.uint256"];
            /** @description s of the signature. */
            readonly s: components["schemas"]["common.uint256"];
        };
        /** SetCodeTransaction */
        readonly "ethereum.transaction.setCode": {
            /** @constant */
            readonly type: "0x4";
            /** @description Hash of the transaction. */
            readonly hash: components["schemas"]["common.lowerHash32"];
            /** @description Sender. */
            readonly from: components["schemas"]["common.address"];
            /** @description Hash of the block; null while pending. */
            readonly blockHash: null | components["schemas"]["common.lowerHash32"];
            /** @description Number of the block; null while pending. */
            readonly blockNumber: null | components["schemas"]["common.uint64"];
            /** @description Time of the block in Unix seconds; younger nodes give it; null while pending. */
            readonly blockTimestamp?: null | components["schemas"]["common.uint64"];
            /** @description Index in the block; null while pending. */
            readonly transactionIndex: null | components["schemas"]["common.uint64"];
            /** @description Nonce of the sender's account. */
            readonly nonce: components["schemas"]["common.uint64"];
            /** @description Receiver. */
            readonly to: components["schemas"]["common.address"];
            /** @description Gas limit. */
            readonly gas: components["schemas"]["common.uint64"];
            /** @description Value in wei. */
            readonly value: components["schemas"]["common.uint256"];
            /** @description Call data, or the init code of a creation. */
            readonly input: components["schemas"]["common.lowerBytes"];
            /** @description Maximum priority fee per gas in wei. */
            readonly maxPriorityFeePerGas: components["schemas"]["common.uint256"];
            /** @description Maximum fee per gas in wei, base fee included. */
            readonly maxFeePerGas: components["schemas"]["common.uint256"];
            /** @description Effective price per gas in wei; while pending, the maximum. Deprecated by the standard in favour of the receipt's. */
            readonly gasPrice?: components["schemas"]["common.uint256"];
            /** @description Identifier of the chain. */
            readonly chainId: components["schemas"]["common.uint256"];
            readonly accessList: components["schemas"]["ethereum.transaction.accessList"];
            /** @description Authorizations to set code (EIP-7702). */
            readonly authorizationList: readonly components["schemas"]["ethereum.transaction.authorization"][];
            /**
             * @description Parity of the y-value of the signature.
             * @enum {string}
             */
            readonly yParity: "0x0" | "0x1";
            /**
             * @description The same as yParity, deprecated.
             * @enum {string}
             */
            readonly v?: "0x0" | "0x1";
            /** @description r of the signature. */
            readonly r: components["schemas"]["common.uint256"];
            /** @description s of the signature. */
            readonly s: components["schemas"]["common.uint256"];
        };
        /**
         * RpcError
         * @description Why there is no result.
         * @example {
         *       "code": -32601,
         *       "message": "the method eth_call does not exist/is not available"
         *     }
         */
        readonly "json-rpc.error": {
            /** @description -32700 no JSON, -32600 no request, -32601 unknown method, -32602 bad parameters; others are the service's own. */
            readonly code: number;
            readonly message: string;
            /** @description Facts for programs. */
            readonly data?: unknown;
        };
        /**
         * RpcFailure
         * @example {
         *       "jsonrpc": "2.0",
         *       "id": null,
         *       "error": {
         *         "code": -32700,
         *         "message": "Parse error: the body is empty"
         *       }
         *     }
         */
        readonly "json-rpc.failure": {
            /** @constant */
            readonly jsonrpc: "2.0";
            /** @description That of the request; null when it could not be told. */
            readonly id: null | components["schemas"]["json-rpc.id"];
            readonly error: components["schemas"]["json-rpc.error"];
        };
        /**
         * RpcId
         * @description Chosen by the client. The document has an integer; strings are accepted too, as JSON-RPC 2.0 has them.
         * @example 1
         */
        readonly "json-rpc.id": number | string;
        /** RpcRequest */
        readonly "json-rpc.request": components["schemas"]["rpc-method.eth_blockNumber.request"] | components["schemas"]["rpc-method.eth_chainId.request"] | components["schemas"]["rpc-method.eth_gasPrice.request"] | components["schemas"]["rpc-method.eth_getBalance.request"] | components["schemas"]["rpc-method.eth_getLogs.request"] | components["schemas"]["rpc-method.eth_getTransactionByHash.request"] | components["schemas"]["rpc-method.eth_getTransactionReceipt.request"] | components["schemas"]["rpc-method.eth_maxPriorityFeePerGas.request"];
        /** RpcResponse */
        readonly "json-rpc.response": components["schemas"]["rpc-method.eth_blockNumber.response"] | components["schemas"]["rpc-method.eth_chainId.response"] | components["schemas"]["rpc-method.eth_gasPrice.response"] | components["schemas"]["rpc-method.eth_getBalance.response"] | components["schemas"]["rpc-method.eth_getLogs.response"] | components["schemas"]["rpc-method.eth_getTransactionByHash.response"] | components["schemas"]["rpc-method.eth_getTransactionReceipt.response"] | components["schemas"]["rpc-method.eth_maxPriorityFeePerGas.response"] | components["schemas"]["json-rpc.failure"];
        /**
         * QuotaRequest
         * @description Who asks, and when. Members beside these are ignored.
         * @example {
         *       "address": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
         *       "timestamp": 1767225600,
         *       "signature": "0x111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111b"
         *     }
         */
        readonly "quota.quota.request": {
            /** @description Address of the profile. */
            readonly address: components["schemas"]["common.address"];
            /** @description Time of the request; the current time within plus or minus 5 seconds. */
            readonly timestamp: components["schemas"]["common.unixSeconds"];
            /** @description Signature (EIP-191) of a controller with the permission SIGN over keccak256 of address and timestamp as packed address and uint256. */
            readonly signature: components["schemas"]["common.bytes"];
        };
        /**
         * QuotaResponse
         * @description What is left.
         * @example {
         *       "quota": 19950000,
         *       "unit": "gas",
         *       "totalQuota": 20000000,
         *       "resetDate": 1769904000
         *     }
         * @example {
         *       "quota": 1.5,
         *       "unit": "lyx"
         *     }
         */
        readonly "quota.quota.response": {
            /** @description Available balance left, in the unit given by unit. */
            readonly quota: number;
            /**
             * @description What the business model counts.
             * @enum {string}
             */
            readonly unit: "gas" | "lyx" | "transactionCount";
            /** @description Total limit: available plus used since the last reset, in the same unit. Absent in a pay-as-you-go model. */
            readonly totalQuota?: number;
            /** @description When the available quota resets, in Unix seconds. Absent in a pay-as-you-go model. */
            readonly resetDate?: components["schemas"]["common.unixSeconds"];
        };
        /**
         * nonce
         * @description Nonce of the profile's key manager for the signer, of at most 256 bits: channel << 128 | id. The document has an integer, of any size; a decimal or hex string is accepted too, since many JSON writers lose digits beyond 2^53.
         * @example 0
         * @example 340282366920938463463374607431768211456
         * @example 0x100000000000000000000000000000000
         */
        readonly "relay.execute.nonce": number | string;
        /**
         * ExecuteRequest
         * @description The signed relay call. Members beside these are ignored.
         * @example {
         *       "address": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
         *       "transaction": {
         *         "abi": "0x7f23690c",
         *         "signature": "0x111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111b",
         *         "nonce": 1
         *       }
         *     }
         * @example {
         *       "address": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
         *       "transaction": {
         *         "abi": "0x7f23690c",
         *         "signature": "0x111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111b",
         *         "nonce": "1701411834604692317316873037158841057281",
         *         "validityTimestamps": "0x0",
         *         "value": "0x00"
         *       },
         *       "keyManagerAddress": "0x5FbDB2315678afecb367f032d93F642f64180aa3"
         *     }
         */
        readonly "relay.execute.request": {
            /** @description Address of the profile. */
            readonly address: components["schemas"]["common.address"];
            /** @description The relay call as it was signed. */
            readonly transaction: {
                /** @description Call data of the relayed call: the payload that the key manager executes, four bytes at least. */
                readonly abi: components["schemas"]["common.bytes"];
                /** @description Signature of a controller over the relay message (LSP25). */
                readonly signature: components["schemas"]["common.bytes"];
                readonly nonce: components["schemas"]["relay.execute.nonce"];
                readonly validityTimestamps?: components["schemas"]["relay.execute.validityTimestamps"];
                readonly value?: components["schemas"]["relay.execute.zero"];
            };
            /** @description Addition, seen from clients: ignored. The key manager is the owner of the profile on the chain. */
            readonly keyManagerAddress?: unknown;
        };
        /**
         * ExecuteResponse
         * @description The answer to an accepted call.
         * @example {
         *       "transactionHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e"
         *     }
         */
        readonly "relay.execute.response": {
            /** @description Hash of the transaction, as the service calculates it. */
            readonly transactionHash: components["schemas"]["common.hash32"];
        };
        /**
         * validityTimestamps
         * @description Addition (LSP15, LSP25): first and last second at which the call may be executed, start << 128 | end; 0, null or left out: always.
         * @example 0x0
         * @example 0
         * @example null
         */
        readonly "relay.execute.validityTimestamps": null | number | string;
        /**
         * zero
         * @description Addition, seen from clients: value that goes along, in wei. A relay sends none, so anything but zero is refused.
         * @example 0x00
         * @example 0x0
         * @example 0
         */
        readonly "relay.execute.zero": null | 0 | string;
        /**
         * TransactionStatus
         * @description State of the call that an attempt with this hash carries. Where calls share a transaction, of all of them: the query `?profile=&signer=&nonce=` says which one is meant.
         * @example {
         *       "status": "pending",
         *       "transactionHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "attempts": [
         *         {
         *           "transactionHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *           "signedAt": 1767225600
         *         }
         *       ],
         *       "block": null,
         *       "gasUsed": null,
         *       "charged": null
         *     }
         * @example {
         *       "status": "succeeded",
         *       "transactionHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "attempts": [
         *         {
         *           "transactionHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *           "signedAt": 1767225600
         *         }
         *       ],
         *       "block": {
         *         "number": 436,
         *         "hash": "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
         *       },
         *       "gasUsed": 50000,
         *       "charged": {
         *         "amount": 50000,
         *         "unit": "gas"
         *       }
         *     }
         * @example {
         *       "status": "mixed",
         *       "transactionHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *       "attempts": [
         *         {
         *           "transactionHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *           "signedAt": 1767225600
         *         }
         *       ],
         *       "block": {
         *         "number": 436,
         *         "hash": "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
         *       },
         *       "gasUsed": 90000,
         *       "charged": {
         *         "amount": 90000,
         *         "unit": "gas"
         *       },
         *       "calls": [
         *         {
         *           "profile": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
         *           "signer": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
         *           "nonce": "1",
         *           "status": "succeeded",
         *           "gasUsed": 50000,
         *           "charged": {
         *             "amount": 50000,
         *             "unit": "gas"
         *           }
         *         },
         *         {
         *           "profile": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
         *           "signer": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
         *           "nonce": "340282366920938463463374607431768211456",
         *           "status": "reverted",
         *           "gasUsed": 40000,
         *           "charged": {
         *             "amount": 40000,
         *             "unit": "gas"
         *           }
         *         }
         *       ]
         *     }
         */
        readonly "relay.transactions.response": {
            /**
             * @description pending: accepted, not mined yet. succeeded, reverted: mined. abandoned: never to be mined, since its nonce was used otherwise, the node keeps refusing it, or its time is over: then the transaction that used the nonce up is charged. mixed: the calls of a bundle have come to different ends, see `calls`.
             * @enum {string}
             */
            readonly status: "pending" | "succeeded" | "reverted" | "abandoned" | "mixed";
            /** @description Hash of the mined attempt; before, of the latest. */
            readonly transactionHash: components["schemas"]["common.hash32"];
            /** @description Every transaction that carried the call, oldest first: the same account nonce, rising fees. */
            readonly attempts: readonly {
                readonly transactionHash: components["schemas"]["common.hash32"];
                /** @description When it was signed, in Unix seconds; it is broadcast right after that. */
                readonly signedAt: components["schemas"]["common.unixSeconds"];
            }[];
            /** @description Where it was mined; null before. */
            readonly block: null | {
                readonly number: number;
                readonly hash: components["schemas"]["common.hash32"];
            };
            /** @description Gas used by the mined transaction; of a call in a bundle, its part; null before. */
            readonly gasUsed: null | number;
            /** @description What the quota of the profile was charged; null before the settlement. For several calls of a bundle their sum; null where they are charged in different units. */
            readonly charged: null | {
                readonly amount: number;
                /** @enum {string} */
                readonly unit: "gas" | "lyx" | "transactionCount";
            };
            /** @description Only where several calls share the transaction (`relay.bundle`): those that the query leaves, in the order in which they are made. */
            readonly calls?: readonly {
                readonly profile: components["schemas"]["common.address"];
                /** @description The controller that signed the call. */
                readonly signer: components["schemas"]["common.address"];
                /** @description Decimal. */
                readonly nonce: string;
                /** @enum {string} */
                readonly status: "pending" | "succeeded" | "reverted" | "abandoned";
                /** @description The call's part of the gas that the transaction used; null before it is mined. */
                readonly gasUsed: null | number;
                /** @description What the quota of the profile was charged; null before the settlement. */
                readonly charged: null | {
                    readonly amount: number;
                    /** @enum {string} */
                    readonly unit: "gas" | "lyx" | "transactionCount";
                };
            }[];
        };
        /**
         * @description None.
         * @example []
         */
        readonly "rpc-method.eth_blockNumber.params": readonly [
        ];
        /**
         * eth_blockNumber request
         * @description The number of the head block.
         */
        readonly "rpc-method.eth_blockNumber.request": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            /** @constant */
            readonly method: "eth_blockNumber";
            readonly params?: components["schemas"]["rpc-method.eth_blockNumber.params"];
        };
        /** eth_blockNumber response */
        readonly "rpc-method.eth_blockNumber.response": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            readonly result: components["schemas"]["rpc-method.eth_blockNumber.result"];
        };
        /**
         * @description Number of the head block.
         * @example 0x1b4
         */
        readonly "rpc-method.eth_blockNumber.result": components["schemas"]["common.uint64"];
        /**
         * @description None.
         * @example []
         */
        readonly "rpc-method.eth_chainId.params": readonly [
        ];
        /**
         * eth_chainId request
         * @description The identifier of the chain (EIP-695).
         */
        readonly "rpc-method.eth_chainId.request": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            /** @constant */
            readonly method: "eth_chainId";
            readonly params?: components["schemas"]["rpc-method.eth_chainId.params"];
        };
        /** eth_chainId response */
        readonly "rpc-method.eth_chainId.response": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            readonly result: components["schemas"]["rpc-method.eth_chainId.result"];
        };
        /**
         * @description Identifier of the chain.
         * @example 0x7a69
         * @example 0x2a
         */
        readonly "rpc-method.eth_chainId.result": components["schemas"]["common.uint256"];
        /**
         * @description None.
         * @example []
         */
        readonly "rpc-method.eth_gasPrice.params": readonly [
        ];
        /**
         * eth_gasPrice request
         * @description The average price per gas, in wei.
         */
        readonly "rpc-method.eth_gasPrice.request": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            /** @constant */
            readonly method: "eth_gasPrice";
            readonly params?: components["schemas"]["rpc-method.eth_gasPrice.params"];
        };
        /** eth_gasPrice response */
        readonly "rpc-method.eth_gasPrice.response": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            readonly result: components["schemas"]["rpc-method.eth_gasPrice.result"];
        };
        /**
         * @description Price per gas in wei.
         * @example 0x3b9aca00
         */
        readonly "rpc-method.eth_gasPrice.result": components["schemas"]["common.uint256"];
        /**
         * @example [
         *       "0x5FbDB2315678afecb367f032d93F642f64180aa3",
         *       "latest"
         *     ]
         * @example [
         *       "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       "0x1b4"
         *     ]
         * @example [
         *       "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *       436
         *     ]
         */
        readonly "rpc-method.eth_getBalance.params": readonly [
            components["schemas"]["common.address"],
            components["schemas"]["common.blockNumberOrTag"]
        ];
        /**
         * eth_getBalance request
         * @description The balance of an address at a block, in wei.
         */
        readonly "rpc-method.eth_getBalance.request": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            /** @constant */
            readonly method: "eth_getBalance";
            readonly params: components["schemas"]["rpc-method.eth_getBalance.params"];
        };
        /** eth_getBalance response */
        readonly "rpc-method.eth_getBalance.response": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            readonly result: components["schemas"]["rpc-method.eth_getBalance.result"];
        };
        /**
         * @description Balance in wei.
         * @example 0xde0b6b3a7640000
         */
        readonly "rpc-method.eth_getBalance.result": components["schemas"]["common.uint256"];
        /**
         * filter
         * @description Which logs: every member narrows. A block hash stands in place of a range. Members that nobody knows are refused, since a misspelt one would be no filter at all.
         */
        readonly "rpc-method.eth_getLogs.filter": {
            /** @description First block of the range; left out: latest. */
            readonly fromBlock?: components["schemas"]["common.blockNumberOrTag"];
            /** @description Last block of the range; left out: latest. */
            readonly toBlock?: components["schemas"]["common.blockNumberOrTag"];
            /** @description The only block to look at (EIP-234); excludes fromBlock and toBlock. */
            readonly blockHash?: components["schemas"]["common.hash32"];
            /** @description Contract that emitted the log, or several of which one did; null or an empty list: any. */
            readonly address?: null | components["schemas"]["common.address"] | readonly components["schemas"]["common.address"][];
            /** @description What each topic must be, by position; logs may have more topics. */
            readonly topics?: null | readonly components["schemas"]["rpc-method.eth_getLogs.topic"][];
            readonly paging_options?: components["schemas"]["rpc-method.eth_getLogs.pagingOptions"];
        };
        /**
         * pageKey
         * @description An unsigned integer of at most 64 bits in hex, with or without 0x.
         * @example 0x3e7
         * @example 3e7
         */
        readonly "rpc-method.eth_getLogs.pageKey": string;
        /**
         * pagingOptions
         * @description Asks for what comes strictly after a log: its logIndex and blockNumber, as they stand in the last entry received. The documents speak of a third key that they do not show; any is accepted and ignored.
         */
        readonly "rpc-method.eth_getLogs.pagingOptions": {
            readonly logIndex: components["schemas"]["rpc-method.eth_getLogs.pageKey"];
            readonly blockNumber: components["schemas"]["rpc-method.eth_getLogs.pageKey"];
        } & {
            readonly [key: string]: unknown;
        };
        /**
         * @example [
         *       {
         *         "address": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
         *         "fromBlock": "0x0",
         *         "toBlock": "latest",
         *         "topics": []
         *       }
         *     ]
         * @example [
         *       {
         *         "blockHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e"
         *       }
         *     ]
         * @example [
         *       {
         *         "fromBlock": "0x0",
         *         "paging_options": {
         *           "logIndex": "0x3e7",
         *           "blockNumber": "1b4"
         *         }
         *       }
         *     ]
         */
        readonly "rpc-method.eth_getLogs.params": readonly [
            components["schemas"]["rpc-method.eth_getLogs.filter"]
        ];
        /**
         * eth_getLogs request
         * @description The log entries that a filter selects: at most 1000, in ascending order of block and log index. The next page is asked for with paging_options.
         */
        readonly "rpc-method.eth_getLogs.request": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            /** @constant */
            readonly method: "eth_getLogs";
            readonly params: components["schemas"]["rpc-method.eth_getLogs.params"];
        };
        /** eth_getLogs response */
        readonly "rpc-method.eth_getLogs.response": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            readonly result: components["schemas"]["rpc-method.eth_getLogs.result"];
        };
        /**
         * @description The log entries.
         * @example []
         * @example [
         *       {
         *         "address": "0x5fbdb2315678afecb367f032d93f642f64180aa3",
         *         "topics": [
         *           "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
         *         ],
         *         "data": "0x",
         *         "blockHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *         "blockNumber": "0x1b4",
         *         "transactionHash": "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e",
         *         "transactionIndex": "0x0",
         *         "logIndex": "0x0",
         *         "removed": false
         *       }
         *     ]
         */
        readonly "rpc-method.eth_getLogs.result": readonly components["schemas"]["ethereum.log"][];
        /**
         * topic
         * @description A topic, several of which one must match, or any: null or an empty list.
         */
        readonly "rpc-method.eth_getLogs.topic": null | components["schemas"]["common.hash32"] | readonly components["schemas"]["common.hash32"][];
        /**
         * @example [
         *       "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e"
         *     ]
         */
        readonly "rpc-method.eth_getTransactionByHash.params": readonly [
            components["schemas"]["common.hash32"]
        ];
        /**
         * eth_getTransactionByHash request
         * @description The transaction with a hash, or null.
         */
        readonly "rpc-method.eth_getTransactionByHash.request": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            /** @constant */
            readonly method: "eth_getTransactionByHash";
            readonly params: components["schemas"]["rpc-method.eth_getTransactionByHash.params"];
        };
        /** eth_getTransactionByHash response */
        readonly "rpc-method.eth_getTransactionByHash.response": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            readonly result: components["schemas"]["rpc-method.eth_getTransactionByHash.result"];
        };
        /**
         * @description The transaction with a hash, or null.
         * @example null
         */
        readonly "rpc-method.eth_getTransactionByHash.result": null | components["schemas"]["ethereum.transaction"];
        /**
         * @example [
         *       "0xe670ec64341771606e55d6b4ca35a1a6b75ee3d5145a99d05921026d1527331e"
         *     ]
         */
        readonly "rpc-method.eth_getTransactionReceipt.params": readonly [
            components["schemas"]["common.hash32"]
        ];
        /**
         * eth_getTransactionReceipt request
         * @description The receipt of the mined transaction with a hash, or null.
         */
        readonly "rpc-method.eth_getTransactionReceipt.request": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            /** @constant */
            readonly method: "eth_getTransactionReceipt";
            readonly params: components["schemas"]["rpc-method.eth_getTransactionReceipt.params"];
        };
        /** eth_getTransactionReceipt response */
        readonly "rpc-method.eth_getTransactionReceipt.response": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            readonly result: components["schemas"]["rpc-method.eth_getTransactionReceipt.result"];
        };
        /**
         * @description The receipt of the mined transaction with a hash, or null.
         * @example null
         */
        readonly "rpc-method.eth_getTransactionReceipt.result": null | components["schemas"]["ethereum.receipt"];
        /**
         * @description None.
         * @example []
         */
        readonly "rpc-method.eth_maxPriorityFeePerGas.params": readonly [
        ];
        /**
         * eth_maxPriorityFeePerGas request
         * @description A priority fee per gas with which a transaction should be mined soon, in wei.
         */
        readonly "rpc-method.eth_maxPriorityFeePerGas.request": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            /** @constant */
            readonly method: "eth_maxPriorityFeePerGas";
            readonly params?: components["schemas"]["rpc-method.eth_maxPriorityFeePerGas.params"];
        };
        /** eth_maxPriorityFeePerGas response */
        readonly "rpc-method.eth_maxPriorityFeePerGas.response": {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["json-rpc.id"];
            readonly result: components["schemas"]["rpc-method.eth_maxPriorityFeePerGas.result"];
        };
        /**
         * @description Priority fee per gas in wei.
         * @example 0x3b9aca00
         * @example 0x0
         */
        readonly "rpc-method.eth_maxPriorityFeePerGas.result": components["schemas"]["common.uint256"];
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly execute: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["relay.execute.request"];
            };
        };
        readonly responses: {
            /** @description Accepted. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["relay.execute.response"];
                };
            };
            /** @description `INVALID_REQUEST`: The body is not JSON, breaks its schema (details name each field) or holds a number that would lose digits. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "INVALID_REQUEST";
                    };
                };
            };
            /** @description `INVALID_SIGNATURE`: No signer can be recovered, or the signer is no controller of the profile or lacks the permission SIGN. */
            readonly 401: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "INVALID_SIGNATURE";
                    };
                };
            };
            /**
             * @description `NOT_AUTHORISED`: The key manager refuses the call to this controller.
             *
             *     `PROFILE_NOT_REGISTERED`: The service relays for registered profiles only, and this one is not registered or is suspended.
             */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "NOT_AUTHORISED" | "PROFILE_NOT_REGISTERED";
                    };
                };
            };
            /** @description `PROFILE_NOT_FOUND`: There is no profile with a key manager at this address. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "PROFILE_NOT_FOUND";
                    };
                };
            };
            /** @description `METHOD_NOT_ALLOWED`: The path does not take this HTTP method; the header Allow names those that it takes. */
            readonly 405: {
                headers: {
                    /** @description The methods that the path takes. */
                    readonly Allow?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "METHOD_NOT_ALLOWED";
                    };
                };
            };
            /**
             * @description `NONCE_USED`: The nonce is used on the chain; details hold the expected one.
             *
             *     `NONCE_CONFLICT`: Another payload was accepted with the same nonce.
             *
             *     `NONCE_GAP`: The nonce lies too far ahead in its channel; details hold the expected one.
             */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "NONCE_USED" | "NONCE_CONFLICT" | "NONCE_GAP";
                    };
                };
            };
            /** @description `PAYLOAD_TOO_LARGE`: The body, or the transaction that would carry the relay call, is larger than the service takes. */
            readonly 413: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "PAYLOAD_TOO_LARGE";
                    };
                };
            };
            /** @description `UNSUPPORTED_MEDIA_TYPE`: The content type or encoding of the body is not one that the service reads. */
            readonly 415: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "UNSUPPORTED_MEDIA_TYPE";
                    };
                };
            };
            /**
             * @description `RELAY_CALL_REVERTS`: The simulation of the call reverts; details hold the decoded custom error.
             *
             *     `EXPIRES_TOO_SOON`: The end of validityTimestamps is so near that the call may expire before it is mined; details hold the seconds that the service wants.
             */
            readonly 422: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "RELAY_CALL_REVERTS" | "EXPIRES_TOO_SOON";
                    };
                };
            };
            /**
             * @description `QUOTA_EXCEEDED`: The quota of the profile does not cover the call; Retry-After leads to the next reset, if there is one.
             *
             *     `RATE_LIMITED`: Too many requests; Retry-After says when to come back.
             */
            readonly 429: {
                headers: {
                    /** @description Seconds until it makes sense to try again. */
                    readonly "Retry-After"?: number;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "QUOTA_EXCEEDED" | "RATE_LIMITED";
                    };
                };
            };
            /** @description `INTERNAL`: The service failed by its own fault; the log holds the cause under the id of the request. */
            readonly 500: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "INTERNAL";
                    };
                };
            };
            /**
             * @description `UPSTREAM_UNAVAILABLE`: No node behind the service answers in time, or with what was asked for; or the database is away, full or read-only. Retry-After says when to come back.
             *
             *     `SIGNERS_UNAVAILABLE`: No account of the relayer can pay for the transaction now.
             */
            readonly 503: {
                headers: {
                    /** @description Seconds until it makes sense to try again. */
                    readonly "Retry-After"?: number;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "UPSTREAM_UNAVAILABLE" | "SIGNERS_UNAVAILABLE";
                    };
                };
            };
        };
    };
    readonly quota: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["quota.quota.request"];
            };
        };
        readonly responses: {
            /** @description The quota left. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["quota.quota.response"];
                };
            };
            /** @description `INVALID_REQUEST`: The body is not JSON, breaks its schema (details name each field) or holds a number that would lose digits. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "INVALID_REQUEST";
                    };
                };
            };
            /**
             * @description `INVALID_SIGNATURE`: No signer can be recovered, or the signer is no controller of the profile or lacks the permission SIGN.
             *
             *     `STALE_TIMESTAMP`: The timestamp of a quota request lies outside of the window around the current time.
             */
            readonly 401: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "INVALID_SIGNATURE" | "STALE_TIMESTAMP";
                    };
                };
            };
            /** @description `PROFILE_NOT_REGISTERED`: The service relays for registered profiles only, and this one is not registered or is suspended. */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "PROFILE_NOT_REGISTERED";
                    };
                };
            };
            /** @description `PROFILE_NOT_FOUND`: There is no profile with a key manager at this address. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "PROFILE_NOT_FOUND";
                    };
                };
            };
            /** @description `METHOD_NOT_ALLOWED`: The path does not take this HTTP method; the header Allow names those that it takes. */
            readonly 405: {
                headers: {
                    /** @description The methods that the path takes. */
                    readonly Allow?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "METHOD_NOT_ALLOWED";
                    };
                };
            };
            /** @description `PAYLOAD_TOO_LARGE`: The body, or the transaction that would carry the relay call, is larger than the service takes. */
            readonly 413: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "PAYLOAD_TOO_LARGE";
                    };
                };
            };
            /** @description `UNSUPPORTED_MEDIA_TYPE`: The content type or encoding of the body is not one that the service reads. */
            readonly 415: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "UNSUPPORTED_MEDIA_TYPE";
                    };
                };
            };
            /** @description `RATE_LIMITED`: Too many requests; Retry-After says when to come back. */
            readonly 429: {
                headers: {
                    /** @description Seconds until it makes sense to try again. */
                    readonly "Retry-After"?: number;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "RATE_LIMITED";
                    };
                };
            };
            /** @description `INTERNAL`: The service failed by its own fault; the log holds the cause under the id of the request. */
            readonly 500: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "INTERNAL";
                    };
                };
            };
            /** @description `UPSTREAM_UNAVAILABLE`: No node behind the service answers in time, or with what was asked for; or the database is away, full or read-only. Retry-After says when to come back. */
            readonly 503: {
                headers: {
                    /** @description Seconds until it makes sense to try again. */
                    readonly "Retry-After"?: number;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "UPSTREAM_UNAVAILABLE";
                    };
                };
            };
        };
    };
    readonly transactionStatus: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Hash of any attempt. */
                readonly hash: components["schemas"]["common.hash32"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What became of it. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["relay.transactions.response"];
                };
            };
            /** @description `INVALID_REQUEST`: The body is not JSON, breaks its schema (details name each field) or holds a number that would lose digits. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "INVALID_REQUEST";
                    };
                };
            };
            /** @description `NOT_FOUND`: There is nothing at this path or under this hash. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "NOT_FOUND";
                    };
                };
            };
            /** @description `METHOD_NOT_ALLOWED`: The path does not take this HTTP method; the header Allow names those that it takes. */
            readonly 405: {
                headers: {
                    /** @description The methods that the path takes. */
                    readonly Allow?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "METHOD_NOT_ALLOWED";
                    };
                };
            };
            /** @description `RATE_LIMITED`: Too many requests; Retry-After says when to come back. */
            readonly 429: {
                headers: {
                    /** @description Seconds until it makes sense to try again. */
                    readonly "Retry-After"?: number;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "RATE_LIMITED";
                    };
                };
            };
            /** @description `INTERNAL`: The service failed by its own fault; the log holds the cause under the id of the request. */
            readonly 500: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "INTERNAL";
                    };
                };
            };
            /** @description `UPSTREAM_UNAVAILABLE`: No node behind the service answers in time, or with what was asked for; or the database is away, full or read-only. Retry-After says when to come back. */
            readonly 503: {
                headers: {
                    /** @description Seconds until it makes sense to try again. */
                    readonly "Retry-After"?: number;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "UPSTREAM_UNAVAILABLE";
                    };
                };
            };
        };
    };
    readonly ethRpc: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["json-rpc.request"] | readonly components["schemas"]["json-rpc.request"][];
            };
        };
        readonly responses: {
            /** @description Successful operation, or a JSON-RPC error. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["json-rpc.response"] | readonly components["schemas"]["json-rpc.response"][];
                };
            };
            /** @description `METHOD_NOT_ALLOWED`: The path does not take this HTTP method; the header Allow names those that it takes. */
            readonly 405: {
                headers: {
                    /** @description The methods that the path takes. */
                    readonly Allow?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "METHOD_NOT_ALLOWED";
                    };
                };
            };
            /** @description `PAYLOAD_TOO_LARGE`: The body, or the transaction that would carry the relay call, is larger than the service takes. */
            readonly 413: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "PAYLOAD_TOO_LARGE";
                    };
                };
            };
            /** @description `UNSUPPORTED_MEDIA_TYPE`: The content type or encoding of the body is not one that the service reads. */
            readonly 415: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["error"] & {
                        /** @enum {unknown} */
                        readonly code?: "UNSUPPORTED_MEDIA_TYPE";
                    };
                };
            };
        };
    };
}
