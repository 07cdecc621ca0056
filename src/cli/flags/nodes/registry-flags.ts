/** The flags of commands that pull images from registries. */
import { type Command, Option } from 'commander'

export interface RegistryFlags {
  readonly insecureRegistry: readonly string[]
  readonly mirror: readonly string[]
}

/** Collects the values of an option that can be repeated. */
export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

export const registryOptions = (): readonly Option[] => [
  new Option('--insecure-registry <HOST>', 'a registry without TLS; loopback addresses need no flag')
    .argParser(collect)
    .default([]),
  new Option('--mirror <REGISTRY=URL>', 'ask this mirror first: docker.io=http://127.0.0.1:5000')
    .argParser(collect)
    .default([]),
]

export function withRegistryOptions(command: Command): Command {
  for (const option of registryOptions()) command.addOption(option)
  return command
}

/** The URLs of mirrors by registry, and the registries without TLS. */
export const registrySettings = ({ insecureRegistry, mirror }: RegistryFlags) => ({
  insecure: insecureRegistry,
  mirrors: mirrorsOf(mirror),
})

function mirrorsOf(flags: readonly string[]): Record<string, string[]> {
  const mirrors = Object.groupBy(flags, (flag) => flag.slice(0, Math.max(0, flag.indexOf('='))))
  return Object.fromEntries(
    Object.entries(mirrors).map(([registry, values = []]) => [
      registry,
      values.map((flag) => flag.slice(registry.length + 1)),
    ]),
  )
}
