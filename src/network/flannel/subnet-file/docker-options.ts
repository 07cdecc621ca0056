/** Options of Docker for a bridge with this node's subnet, as upstream's mk-docker-opts.sh prints them. */
import type { SubnetFile } from './subnet-file.ts'
import { subnetFileText } from './subnet-file.ts'

export interface DockerOptionsForm {
  /** True to print each option as a variable of its own: `DOCKER_OPT_MTU="--mtu=1450"`. */
  readonly individual: boolean
  /** The variable with all options; undefined to leave it out. */
  readonly combined: string | undefined
  /** False to leave out `--ip-masq`. */
  readonly masquerade: boolean
}

/** The text of a file of variables. Docker masquerades if flannel does not. */
export function dockerOptions(file: SubnetFile, { individual, combined, masquerade }: DockerOptionsForm): string {
  const bridge = /^FLANNEL_SUBNET=(.*)$/m.exec(subnetFileText(file))?.[1]
  const options: readonly (readonly [string, string])[] = [
    ...(bridge ? ([['BIP', `--bip=${bridge}`]] as const) : []),
    ...(masquerade ? ([['IPMASQ', `--ip-masq=${!file.masquerade}`]] as const) : []),
    ...(file.ipv6Subnet ? ([['IPV6', `--ipv6 --fixed-cidr-v6=${file.ipv6Subnet}`]] as const) : []),
    ['MTU', `--mtu=${file.mtu}`],
  ]
  const lines = [
    ...(individual ? options.map(([name, value]) => `DOCKER_OPT_${name}="${value}"`) : []),
    // As the script prints it, with a blank before each option.
    ...(combined === undefined ? [] : [`${combined}="${options.map(([, value]) => ` ${value}`).join('')}"`]),
  ]
  return `${lines.join('\n')}\n`
}
