/**
 * What ~/.ssh/config and /etc/ssh/ssh_config say of a host (ssh_config(5)), as far as reading a file from it is
 * concerned.
 */
import { globSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import SSHConfig from 'ssh-config'
import { ExplainedError, errorCode, reasonOf } from '../../../lib/explained-error.ts'
import { parseSshHost, type SshHost } from './ssh-address.ts'

/** What is done about a host whose key is not known. */
export type UnknownHosts = 'ask' | 'refuse' | 'accept'

export interface SshSettings {
  /** As it was named, which is what files speak of. */
  readonly alias: string
  readonly hostName: string
  readonly port: number
  readonly user: string
  /** Private keys, those of nobody's choosing among them: they need not be there. */
  readonly identityFiles: readonly string[]
  /** Whether the keys of the agent are left alone. */
  readonly identitiesOnly: boolean
  /** The agent's socket. */
  readonly agent: string | undefined
  /** The first is where a new host is added. */
  readonly knownHostsFiles: readonly string[]
  /** The name that known_hosts has for it, if that is another. */
  readonly hostKeyAlias: string | undefined
  readonly unknownHosts: UnknownHosts
  readonly hashKnownHosts: boolean
  /** A program whose input and output are the connection. */
  readonly proxyCommand: string | undefined
  /** The machines on the way, the nearest first. */
  readonly jumps: readonly SshHost[]
  /** How long connecting may take, in ms. */
  readonly connectTimeoutMs: number
}

export interface SshSettingsOptions {
  readonly home: string
  readonly environment: NodeJS.ProcessEnv
  /** Read in the place of the user's own and the machine's. */
  readonly configFile?: string
  /** Keys of somebody's choosing: no others are tried. */
  readonly identityFiles?: readonly string[]
}

/** The keys that ssh has by itself; those that need a security key cannot be used here. */
const usualKeys = ['id_rsa', 'id_ecdsa', 'id_ed25519']
const usualTimeoutMs = 20_000
const maxIncludes = 16

/** Throws an ExplainedError for a file that cannot be read, or that cannot be understood. */
export function sshSettings(
  host: SshHost,
  { home, environment, configFile, identityFiles }: SshSettingsOptions,
): SshSettings {
  const own = join(home, '.ssh')
  const files = configFile ? [configFile] : [join(own, 'config'), '/etc/ssh/ssh_config']
  // What is said first counts, for single values; keys add up.
  const said = files.map((file) => computed(file, host, own, file === configFile))
  const all = (name: string): string[] => said.flatMap((values) => texts(values[name.toLowerCase()]))
  const one = (name: string): string | undefined => all(name)[0]
  const hostName = (one('HostName') ?? host.host).replaceAll('%h', host.host)
  const user = host.user ?? one('User') ?? environment.USER ?? userInfo().username
  const port = host.port ?? Number(one('Port') ?? 22)
  const path = (text: string): string => {
    const expanded = withTokens(text.replace(/^~(?=\/|$)/, home))
    return isAbsolute(expanded) ? expanded : join(own, expanded)
  }
  const tokens: Readonly<Record<string, string>> = {
    '%': '%',
    h: hostName,
    d: home,
    n: host.host,
    r: user,
    p: String(port),
    u: environment.USER ?? user,
  }
  const withTokens = (text: string): string =>
    text.replace(/%([%hdnrpu])/g, (_, letter: string) => tokens[letter] ?? '')
  const list = (name: string): string[] => {
    const first = said.find((values) => texts(values[name.toLowerCase()]).length > 0)
    return texts(first?.[name.toLowerCase()])
      .flatMap((text) => text.split(/\s+/))
      .filter((text) => text !== 'none')
  }
  const chosenKeys = all('IdentityFile')
  const { command, jump } = wayOf(said)
  if (command) checkWords(host.host, [hostName, host.host, user])
  const known = list('UserKnownHostsFile')
  const agent = one('IdentityAgent') ?? 'SSH_AUTH_SOCK'
  return {
    alias: host.host,
    hostName,
    port,
    user,
    identityFiles: identityFiles?.length
      ? identityFiles.map((file) => file.replace(/^~(?=\/)/, home))
      : chosenKeys.length > 0
        ? chosenKeys.filter((file) => file !== 'none').map(path)
        : usualKeys.map((key) => join(own, key)),
    identitiesOnly: one('IdentitiesOnly')?.toLowerCase() === 'yes' || (identityFiles?.length ?? 0) > 0,
    agent:
      agent === 'none' ? undefined : agent === 'SSH_AUTH_SOCK' ? environment.SSH_AUTH_SOCK || undefined : path(agent),
    knownHostsFiles: [
      ...(known.length > 0 ? known.map(path) : [join(own, 'known_hosts'), join(own, 'known_hosts2')]),
      ...globalKnownHosts(list('GlobalKnownHostsFile')),
    ],
    hostKeyAlias: one('HostKeyAlias'),
    unknownHosts: unknownHosts(one('StrictHostKeyChecking')),
    hashKnownHosts: one('HashKnownHosts')?.toLowerCase() === 'yes',
    proxyCommand: command && withTokens(command),
    jumps: !jump ? [] : jump.split(',').map((hop) => parseSshHost(hop.trim().replace(/^ssh:\/\//, ''))),
    connectTimeoutMs: (Number(one('ConnectTimeout')) || usualTimeoutMs / 1000) * 1000,
  }
}

/** How the machine is reached, if not directly: of ProxyCommand and ProxyJump, the one that is said first counts. */
function wayOf(said: readonly Said[]): { readonly command?: string; readonly jump?: string } {
  const [first] = said.flatMap((values) =>
    Object.entries(values).filter(([name]) => name === 'proxycommand' || name === 'proxyjump'),
  )
  const text = first && texts(first[1]).join(' ')
  if (!text || text.toLowerCase() === 'none') return {}
  return first[0] === 'proxycommand' ? { command: text } : { jump: text }
}

/** Throws an ExplainedError for names that a shell would take for more than words. */
function checkWords(host: string, words: readonly string[]): void {
  const odd = words.find((word) => /[\s\p{Cc}'"`$\\;&<>|(){}]/u.test(word) || word.startsWith('-'))
  if (odd !== undefined)
    throw new ExplainedError(
      `${host} is reached by a ProxyCommand, and ${JSON.stringify(odd)} could be more than a name to it: mend ` +
        'HostName and User in ~/.ssh/config',
    )
}

const globalKnownHosts = (said: readonly string[]): readonly string[] =>
  said.length > 0 ? said : ['/etc/ssh/ssh_known_hosts', '/etc/ssh/ssh_known_hosts2']

function unknownHosts(said = 'ask'): UnknownHosts {
  switch (said.toLowerCase()) {
    case 'yes':
      return 'refuse'
    case 'accept-new':
    case 'no':
    case 'off':
      return 'accept'
    default:
      return 'ask'
  }
}

type Said = Readonly<Record<string, string | readonly string[]>>

/** What one file says of the host; nothing if it is not there and need not be. */
function computed(file: string, { host, user }: SshHost, own: string, required: boolean): Said {
  const text = textAt(file, required)
  if (text === undefined) return {}
  try {
    const config = SSHConfig.parse(withIncludes(text, file.startsWith('/etc/') ? '/etc/ssh' : own, 0))
    return config.compute({ Host: host, ...(user && { User: user }) }, { ignoreCase: true, matchExec: false })
  } catch (error) {
    throw new ExplainedError(`cannot understand ${file}: ${reasonOf(error)}; mend it, or name another by -F`, {
      cause: error,
    })
  }
}

/** The text with what `Include` names in its place. */
function withIncludes(text: string, folder: string, depth: number): string {
  return text.replace(/^[ \t]*include[ \t=]+(.+)$/gim, (_, patterns: string) => {
    if (depth >= maxIncludes) return ''
    const files = patterns
      .trim()
      .split(/\s+/)
      .flatMap((pattern) => {
        const plain = pattern.replaceAll('"', '').replace(/^~\//, `${join(folder, '..')}/`)
        return globSync(isAbsolute(plain) ? plain : join(folder, plain)).sort()
      })
    return files.map((file) => withIncludes(textAt(file, false) ?? '', folder, depth + 1)).join('\n')
  })
}

function textAt(file: string, required: boolean): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (!required && ['ENOENT', 'ENOTDIR', 'EACCES'].includes(errorCode(error) ?? '')) return undefined
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}`, { cause: error })
  }
}

/** A value of ssh-config's: one, several, or several words with their separators. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return []
  return value.flatMap((item: unknown) =>
    typeof item === 'string'
      ? [item]
      : typeof item === 'object' && item !== null && 'val' in item
        ? [String(item.val)]
        : [],
  )
}
