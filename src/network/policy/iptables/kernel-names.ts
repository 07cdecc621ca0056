/** Names of chains and sets in the kernel: chains have 28 characters at most, sets 31. */

export interface KernelNames {
  /** They lead to the chains of pods. */
  readonly entry: Readonly<Record<'forward' | 'input' | 'Egress' | 'Ingress', string>>
  readonly isChain: (name: string) => boolean
  /** Ends with a hash, as the name of the state does. */
  readonly chain: (name: string) => string
  readonly isSet: (name: string) => boolean
  readonly set: (name: string) => string
}

const hashLength = 12
const hashOf = (name: string): string => name.slice(name.lastIndexOf('-') + 1).slice(0, hashLength)

/** Four characters of the instance distinguish the rules of several clusters on one machine. */
export function kernelNames(family: 4 | 6, instance: string | undefined): KernelNames {
  const tag = instance?.slice(0, 4) ?? 'NODE'
  const prefix = `T8S-NWPLCY-${tag}-`
  const setPrefix = `T8S-NWPLCY${family}-${tag}-`
  return {
    entry: {
      forward: `${prefix}FORWARD`,
      input: `${prefix}INPUT`,
      Egress: `${prefix}EGRESS`,
      Ingress: `${prefix}INGRESS`,
    },
    isChain: (name) => name.startsWith(prefix),
    chain: (name) => `${prefix}${hashOf(name)}`,
    isSet: (name) => name.startsWith(setPrefix),
    set: (name) => `${setPrefix}${hashOf(name)}`,
  }
}
