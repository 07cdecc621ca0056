/** The settings of a host in ~/.ssh/config and /etc/ssh/ssh_config (ssh_config(5)) that reading a file needs. */
import { globSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import SSHConfig from 'ssh-config'
import { ExplainedError, errorCode, reasonOf } from '../../../../lib/explained-error.ts'
import { parseSshHost, type SshHost } from './ssh-address.ts'

/** The handling of hosts with unknown keys. */
export type UnknownHosts = 'ask' | 'reject' | 'accept'

export interface SshSettings {
  /** The name as given, which the configuration files match. */
  readonly alias: string
  readonly hostName: string
  readonly port: number
  readonly user: string
  /** Private keys, including the defaults, which need not exist. */
  readonly identityFiles: readonly string[]
  /** True to use only the agent's keys that are in identityFiles. */
  readonly identitiesOnly: boolean
  /** The agent's socket. */
  readonly agent: string | undefined
  /** New hosts are added to the first file. */
  readonly knownHostsFiles: readonly string[]
  /** The name in known_hosts, if different. */
  readonly hostKeyAlias: string | undefined
  readonly unknownHosts: UnknownHosts
  readonly hashKnownHosts: boolean
  /** A program whose input and output are the connection. */
  readonly proxyCommand: string | undefined
  /** Jump hosts, nearest first. */
  readonly jumps: readonly SshHost[]
  /** Timeout for connecting, in ms. */
  readonly connectTimeoutMs: number
}

export interface SshSettingsOptions {
  readonly home: string
  readonly environment: NodeJS.ProcessEnv
  /** Read in place of the user's and the system's files. */
  readonly configFile?: string
  /** Keys chosen by the user; no others are tried. */
  readonly identityFiles?: readonly string[]
}

/** The default keys of ssh, without those for security keys, which are not supported. */
const defaultKeys = ['id_rsa', 'id_ecdsa', 'id_ed25519']
const defaultTimeoutMs = 20_000
const maxIncludes = 16

/** Throws an ExplainedError for an unreadable or invalid file. */
export function sshSettings(
  host: SshHost,
  { home, environment, configFile, identityFiles }: SshSettingsOptions,
): SshSettings {
  const own = join(home, '.ssh')
  const files = configFile ? [configFile] : [join(own, 'config'), '/etc/ssh/ssh_config']
  // For single values, the first one wins; keys accumulate.
  const sections = files.map((file) => computed(file, host, own, file === configFile))
  const all = (name: string): string[] => sections.flatMap((values) => texts(values[name.toLowerCase()]))
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
    const first = sections.find((values) => texts(values[name.toLowerCase()]).length > 0)
    return texts(first?.[name.toLowerCase()])
      .flatMap((text) => text.split(/\s+/))
      .filter((text) => text !== 'none')
  }
  const chosenKeys = all('IdentityFile')
  const { command, jump } = proxyOf(sections)
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
        : defaultKeys.map((key) => join(own, key)),
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
    connectTimeoutMs: (Number(one('ConnectTimeout')) || defaultTimeoutMs / 1000) * 1000,
  }
}

/** ProxyCommand or ProxyJump, whichever comes first. */
function proxyOf(sections: readonly Section[]): { readonly command?: string; readonly jump?: string } {
  const [first] = sections.flatMap((values) =>
    Object.entries(values).filter(([name]) => name === 'proxycommand' || name === 'proxyjump'),
  )
  const text = first && texts(first[1]).join(' ')
  if (!text || text.toLowerCase() === 'none') return {}
  return first[0] === 'proxycommand' ? { command: text } : { jump: text }
}

/** Throws an ExplainedError for names with special characters of the shell. */
function checkWords(host: string, words: readonly string[]): void {
  const odd = words.find((word) => /[\s\p{Cc}'"`$\\;&<>|(){}]/u.test(word) || word.startsWith('-'))
  if (odd !== undefined)
    throw new ExplainedError(
      `${host} has a ProxyCommand, and ${JSON.stringify(odd)} is unsafe in a shell: fix HostName and User in ` +
        '~/.ssh/config',
    )
}

const globalKnownHosts = (files: readonly string[]): readonly string[] =>
  files.length > 0 ? files : ['/etc/ssh/ssh_known_hosts', '/etc/ssh/ssh_known_hosts2']

function unknownHosts(checking = 'ask'): UnknownHosts {
  switch (checking.toLowerCase()) {
    case 'yes':
      return 'reject'
    case 'accept-new':
    case 'no':
    case 'off':
      return 'accept'
    default:
      return 'ask'
  }
}

type Section = Readonly<Record<string, string | readonly string[]>>

/** The settings of the host in a file; empty if an optional file does not exist. */
function computed(file: string, { host, user }: SshHost, own: string, required: boolean): Section {
  const text = textAt(file, required)
  if (text === undefined) return {}
  try {
    const config = SSHConfig.parse(withIncludes(text, file.startsWith('/etc/') ? '/etc/ssh' : own, 0))
    return config.compute({ Host: host, ...(user && { User: user }) }, { ignoreCase: true, matchExec: false })
  } catch (error) {
    throw new ExplainedError(`cannot parse ${file}: ${reasonOf(error)}; fix it, or name another with -F`, {
      cause: error,
    })
  }
}

/** Replaces `Include` lines with the files. */
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

/** Converts a value of the ssh-config package: a text, several, or words with separators. */
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
