/** Ways to connect pods. */

export const networkModes = ['auto', 'builtin', 'cni'] as const

/** `builtin`: a bridge of our own. `cni`: plug-ins. `auto`: plug-ins if there is a configuration of them. */
export type NetworkMode = (typeof networkModes)[number]

export type ConnectorName = Exclude<NetworkMode, 'auto'>
