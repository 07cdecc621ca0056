/** The ways to bring network policies into effect, for flags. Their code is loaded on use. */

/** The best one first. */
export const policyModes = ['nftables', 'iptables'] as const

export type PolicyMode = (typeof policyModes)[number]
