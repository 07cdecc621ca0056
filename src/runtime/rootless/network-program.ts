/** The program that connects the network of a user namespace with that of the machine: slirp4netns or pasta. */
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

export type NetworkProgram = 'slirp4netns' | 'pasta'

/** The address of the namespace on `tap0`, its gateway, and the server of names, which asks the machine's. */
export const networkAddresses = { own: '10.0.2.100', gateway: '10.0.2.2', dns: '10.0.2.3' } as const

/** The first one in the folders of programs; undefined without any. */
export function findNetworkProgram(path = process.env.PATH ?? ''): NetworkProgram | undefined {
  return (['slirp4netns', 'pasta'] as const).find((name) => findProgram(name, path) !== undefined)
}

/** The path of a program; undefined if it is not installed. */
export function findProgram(name: string, path = process.env.PATH ?? ''): string | undefined {
  return path
    .split(':')
    .map((folder) => join(folder || '.', name))
    .find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * The arguments for the network namespace of a process. The machine's loopback addresses cannot be reached. slirp4netns
 * ends when file 3 is closed.
 */
export function networkArguments(program: NetworkProgram, pid: number): string[] {
  const { own, gateway, dns } = networkAddresses
  if (program === 'slirp4netns')
    return [
      ...['--configure', '--mtu=65520', '--disable-host-loopback', '--enable-sandbox', '--enable-seccomp'],
      ...['--exit-fd=3', String(pid), 'tap0'],
    ]
  const noPorts = ['-t', 'none', '-u', 'none', '-T', 'none', '-U', 'none']
  return [
    ...['--foreground', '--quiet', '--config-net', '--no-map-gw', '--ipv4-only', '--ns-ifname', 'tap0', ...noPorts],
    ...['--address', own, '--netmask', '24', '--gateway', gateway, '--dns-forward', dns, String(pid)],
  ]
}

/** The `resolv.conf` of the namespace: the machine's with another server, as those of the machine may be local. */
export function resolverConfiguration(machine: string): string {
  const others = machine.split('\n').filter((line) => /^\s*(search|domain|options)\b/.test(line))
  return [`nameserver ${networkAddresses.dns}`, ...others, ''].join('\n')
}
