/** The WebSocket of a node that serves HTTP at this URL: development nodes have both at one port. */
export const byWebSocket = (rpcUrl: string): string => rpcUrl.replace(/^http/, 'ws')
