/** The result of connecting a pod, in the form of CNI 1.0. */

export interface NetworkResult {
  readonly cniVersion?: string
  readonly interfaces?: readonly { readonly name: string; readonly mac?: string; readonly sandbox?: string }[]
  readonly ips?: readonly { readonly address: string; readonly gateway?: string; readonly interface?: number }[]
  readonly dns?: { readonly nameservers?: readonly string[]; readonly search?: readonly string[] }
}

/** The addresses of a pod without their prefix length; the first is its main address. */
export const addressesOf = ({ ips = [] }: NetworkResult): string[] => ips.map(({ address }) => address.split('/')[0]!)
