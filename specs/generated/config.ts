// Made by `npm run generate`. Never edited: change the schemas in specs/schemas/ instead.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * Configuration of the reference server
         * @description One file, JSON or YAML. Amounts of wei are decimal strings, since they exceed what a JSON number holds exactly. Unknown members are refused. Secrets never stand here: the file names environment variables and files that hold them.
         * @example {
         *       "chain": {
         *         "rpcUrls": [
         *           "http://127.0.0.1:8545"
         *         ]
         *       }
         *     }
         * @example {
         *       "listen": {
         *         "host": "0.0.0.0",
         *         "port": 8080
         *       },
         *       "chain": {
         *         "rpcUrls": [
         *           "https://node.example/rpc"
         *         ],
         *         "confirmations": 20
         *       },
         *       "database": {
         *         "folder": null
         *       },
         *       "signers": {
         *         "keystores": [
         *           {
         *             "file": "/run/secrets/signer.json",
         *             "passwordFile": "/run/secrets/signer.password"
         *           }
         *         ]
         *       },
         *       "quota": {
         *         "defaultPlan": "monthly",
         *         "plans": {
         *           "monthly": {
         *             "model": "gas",
         *             "options": {}
         *           }
         *         }
         *       },
         *       "registration": "open",
         *       "plugins": {
         *         "options": {
         *           "rpc-method/eth_getLogs": {}
         *         }
         *       }
         *     }
         */
        readonly config: {
            /**
             * @description Where the server listens.
             * @default {}
             */
            readonly listen: {
                /**
                 * @description Address of the interface; 0.0.0.0 for all.
                 * @default 127.0.0.1
                 */
                readonly host: string;
                /**
                 * @description TCP port; 0 for any that is free.
                 * @default 3000
                 */
                readonly port: number;
                /**
                 * @description Paths below which everything is served. The default holds those that dapps are set to; any other is 404, so that a wrong base URL shows.
                 * @default [
                 *       "/",
                 *       "/api",
                 *       "/v1",
                 *       "/v1/relayer",
                 *       "/api/v1"
                 *     ]
                 */
                readonly basePaths: readonly string[];
                /**
                 * @description Proxies in front of the server whose X-Forwarded-For is believed; 0: the address is the connection's.
                 * @default 0
                 */
                readonly trustedProxies: number;
            };
            /** @description The Ethereum nodes behind the server. */
            readonly chain: {
                /** @description JSON-RPC URLs of nodes of one chain, by HTTP or WebSocket; the first that is well serves. */
                readonly rpcUrls: readonly string[];
                /**
                 * @description Milliseconds until a node counts as silent.
                 * @default 10000
                 */
                readonly requestTimeoutMs: number;
                /**
                 * @description Blocks on top of a block after which it is held to be final.
                 * @default 12
                 */
                readonly confirmations: number;
                /**
                 * @description How old what answers a read may be, in milliseconds; a node by WebSocket ends it with each new head. 0: never older than the question.
                 * @default 0
                 */
                readonly headMaxAgeMs: number;
            };
            /**
             * @description Where the server keeps its books. The environment variable DATABASE_URL names a PostgreSQL server instead.
             * @default {}
             */
            readonly database: {
                /**
                 * @description Folder of the embedded database; null: in memory, lost at the end.
                 * @default .touchstone/database
                 */
                readonly folder: string | null;
                /**
                 * @description How many days a relay call is kept once it is final; null: for good.
                 * @default null
                 */
                readonly keepDays: number | null;
            };
            /**
             * @description The accounts that send and pay for relay calls. They come from an environment variable, from keystores, or both.
             * @default {}
             */
            readonly signers: {
                /**
                 * @description Name of the environment variable that holds the private keys in hex, separated by commas.
                 * @default TOUCHSTONE_SIGNER_KEYS
                 * @example TOUCHSTONE_SIGNER_KEYS
                 */
                readonly privateKeysFromEnv: string;
                /**
                 * @description Encrypted JSON keystores.
                 * @default []
                 */
                readonly keystores: readonly {
                    /** @description Path of the keystore. */
                    readonly file: string;
                    /** @description Path of the file that holds its password. */
                    readonly passwordFile: string;
                }[];
                /**
                 * @description Balance of an account in wei below which the server warns.
                 * @default 100000000000000000
                 * @example 1000000000000000000
                 */
                readonly lowBalanceWei: string;
            };
            /**
             * @description How relay calls are sent.
             * @default {}
             */
            readonly relay: {
                /**
                 * @description Added to the gas that the simulation used, in percent; at least what three nested contracts keep back (EIP-150), some 5 percent.
                 * @default 20
                 */
                readonly gasPaddingPercent: number;
                /**
                 * @description Most gas that one relay call may take.
                 * @default 10000000
                 */
                readonly gasCap: number;
                /**
                 * @description Most bytes of the signed transaction that carries a relay call; nodes take no more than 131072.
                 * @default 131072
                 */
                readonly maxTransactionBytes: number;
                /**
                 * @description Ceiling for the fee per gas, in wei.
                 * @default 500000000000
                 * @example 50000000000
                 */
                readonly maxFeePerGasWei: string;
                /**
                 * @description Seconds that a call with an end of validity must last to be taken; null: three block times of the chain, 10 seconds at least.
                 * @default null
                 */
                readonly minValiditySeconds: number | null;
                /**
                 * @description Several relay calls in one transaction, where they wait for the same account at the same moment.
                 * @default {}
                 */
                readonly bundle: {
                    /**
                     * @description Address of the bundler, the contract that makes the calls of a bundle: `touchstone bundler deploy`; null: each call has a transaction of its own.
                     * @default null
                     */
                    readonly contract: string | null;
                    /**
                     * @description Most calls in one transaction.
                     * @default 16
                     */
                    readonly maxCalls: number;
                };
            };
            /**
             * @description What profiles may spend.
             * @default {}
             */
            readonly quota: {
                /**
                 * @description Plan of profiles that are given none.
                 * @default default
                 */
                readonly defaultPlan: string;
                /**
                 * @description What a controller may have signed for POST /quota: `hash`, as the document says; `text`, the personal message "<address>:<timestamp>" of LUKSO's public page.
                 * @default [
                 *       "hash"
                 *     ]
                 */
                readonly acceptedMessages: readonly ("hash" | "text")[];
                /**
                 * @description How far the timestamp of POST /quota may be from the time here, in seconds: 5, as the document says; the public text of LSP15 has 300.
                 * @default 5
                 */
                readonly windowSeconds: number;
                /**
                 * @description Plans by name.
                 * @default {
                 *       "default": {
                 *         "model": "gas"
                 *       }
                 *     }
                 */
                readonly plans: {
                    readonly [key: string]: {
                        /**
                         * @description Id of the quota plugin.
                         * @example gas
                         * @example transaction-count
                         */
                        readonly model: string;
                        /**
                         * @description Options of that plugin.
                         * @default {}
                         */
                        readonly options: Record<string, never>;
                        /** @description Most gas that one relay call may take under this plan, below relay.gasCap; by default 1,000,000 where transactions are counted, else relay.gasCap. */
                        readonly gasCap?: number;
                    };
                };
            };
            /**
             * @description Whom the service relays for: registered profiles only, or every profile (open).
             * @default registered
             * @enum {string}
             */
            readonly registration: "open" | "registered";
            /**
             * @description What profiles may spend together that nobody registered, where registration is open: gas limits of the transactions that are sent for them. Windows begin with each hour and each day, UTC. What is beyond is refused until the next one (429).
             * @default {}
             */
            readonly unregistered: {
                /**
                 * @description Gas an hour of all of them.
                 * @default 10000000
                 */
                readonly gasPerHour: number;
                /**
                 * @description Gas a day of all of them.
                 * @default 20000000
                 */
                readonly gasPerDay: number;
                /**
                 * @description Of that, gas an hour of those whose key managers run the same known code.
                 * @default 8000000
                 */
                readonly codeGasPerHour: number;
                /**
                 * @description Of that, gas a day of those whose key managers run the same known code.
                 * @default 10000000
                 */
                readonly codeGasPerDay: number;
                /**
                 * @description Of that, gas an hour of all whose key managers run other code.
                 * @default 1000000
                 */
                readonly unknownCodeGasPerHour: number;
                /**
                 * @description Of that, gas a day of all whose key managers run other code.
                 * @default 2000000
                 */
                readonly unknownCodeGasPerDay: number;
                /**
                 * @description keccak-256 of further code of key managers that is known, beside the published LSP6 contracts; of minimal proxies, that of what they stand for.
                 * @default []
                 */
                readonly knownCodes: readonly string[];
            };
            /**
             * @description Plugins beside those that come with the server, and the options of all.
             * @default {}
             */
            readonly plugins: {
                /**
                 * @description Package names, or paths relative to this file.
                 * @default []
                 */
                readonly external: readonly string[];
                /**
                 * @description Options by <kind>/<id>.
                 * @default {}
                 */
                readonly options: {
                    readonly [key: string]: Record<string, never>;
                };
            };
            /**
             * @description What one request may be, and how many there may be.
             * @default {}
             */
            readonly limits: {
                /**
                 * @description Most bytes of a body.
                 * @default 1048576
                 */
                readonly bodyBytes: number;
                /**
                 * @description Most requests in a JSON-RPC batch; the default is that of viem.
                 * @default 1000
                 */
                readonly batchSize: number;
                /**
                 * @description Seconds that a JSON-RPC request may take, a batch as a whole; what the node has not answered by then is told as unavailable.
                 * @default 20
                 */
                readonly answerSeconds: number;
                /**
                 * @description Most levels of nesting in a JSON body.
                 * @default 32
                 */
                readonly nestingDepth: number;
                /**
                 * @description Most requests a minute from one address (IPv6: one /64), each call of a batch counted; 0: no limit.
                 * @default 6000
                 */
                readonly requestsPerMinute: number;
                /**
                 * @description Most relay calls a minute for one profile; 0: no limit.
                 * @default 600
                 */
                readonly relaysPerMinute: number;
                /**
                 * @description Most calls to the node that requests may have under way or waiting; what is beyond it is refused at once.
                 * @default 2000
                 */
                readonly upstreamCalls: number;
                /**
                 * @description Most connections at a time. The one that has been idle for longest makes room for a new one; where none is idle, further ones are closed at once.
                 * @default 2000
                 */
                readonly connections: number;
                /**
                 * @description Most connections at a time from one address (IPv6: one /64); further ones are closed at once. 0: no limit. Not counted behind trusted proxies, which share their own.
                 * @default 500
                 */
                readonly connectionsPerAddress: number;
                /**
                 * @description Seconds that a client may take to send the headers of a request, from connecting on.
                 * @default 10
                 */
                readonly headersSeconds: number;
                /**
                 * @description Seconds that a client may take for a whole request, body included.
                 * @default 30
                 */
                readonly requestSeconds: number;
                /**
                 * @description Seconds that a connection without a request is kept. Longer than a proxy in front keeps it, or a request may meet its end.
                 * @default 65
                 */
                readonly keepAliveSeconds: number;
            };
            /**
             * @description How the server stops.
             * @default {}
             */
            readonly shutdown: {
                /**
                 * @description Seconds that the server goes on to serve after it has said at /readyz that it is going away. Longer than a load balancer takes to notice; 0 where there is none.
                 * @default 0
                 */
                readonly drainSeconds: number;
                /**
                 * @description Seconds that requests in flight are given after that, before their connections are cut.
                 * @default 10
                 */
                readonly graceSeconds: number;
            };
            /**
             * @description What the server writes to standard output, one JSON line each.
             * @default {}
             */
            readonly log: {
                /**
                 * @description Lowest level that is written.
                 * @default info
                 * @enum {string}
                 */
                readonly level: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
            };
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
