/** The sentence about what is weaker without root. */

export interface RootlessFacts {
  /** True if the user has ranges in `/etc/subuid` and `/etc/subgid`, and the programs that use them. */
  readonly hasIdRanges: boolean
  /** True if slirp4netns or pasta is installed. */
  readonly hasNetwork: boolean
  /** The first port that users may listen on. */
  readonly firstPort: number
}

/** One sentence for the log. */
export function limitationsOf({ hasIdRanges, hasNetwork, firstPort }: RootlessFacts): string {
  const parts = [
    'pods have no limits of CPU and memory',
    `host ports are TCP ports from ${firstPort} of this machine's loopback address`,
    'all pods end with this process',
    ...(hasIdRanges
      ? []
      : ['pods and images have no user but root (apt-get install uidmap, and ranges in /etc/subuid and /etc/subgid)']),
    ...(hasNetwork ? [] : ['pods and pulls of images reach no other machine (apt-get install slirp4netns)']),
  ]
  return `runs without root, in a user namespace: ${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
