/** The settings of a host in ~/.ssh/config and /etc/ssh/ssh_config (ssh_config(5)) that reading a file needs. */
import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { ExplainedError } from '../../../../../lib/explained-error.ts'
import { HostConfig } from './host-config.ts'
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

/** Throws an ExplainedError for an unreadable or invalid file. */
export function sshSettings(host: SshHost, options: SshSettingsOptions): SshSettings {
  const { home, environment, configFile, identityFiles = [] } = options
  const folder = join(home, '.ssh')
  const config = new HostConfig(host, folder, configFile)
  const hostName = (config.one('HostName') ?? host.host).replaceAll('%h', host.host)
  const user = host.user ?? config.one('User') ?? environment.USER ?? userInfo().username
  const port = host.port ?? Number(config.one('Port') ?? 22)
  const expand = tokenExpander({
    h: hostName,
    d: home,
    n: host.host,
    r: user,
    p: String(port),
    u: environment.USER ?? user,
  })
  const path = (text: string): string => {
    const expanded = expand(text.replace(/^~(?=\/|$)/, home))
    return isAbsolute(expanded) ? expanded : join(folder, expanded)
  }
  const { command, jump } = config.proxy()
  if (command) checkWords(host.host, [hostName, host.host, user])
  return {
    alias: host.host,
    hostName,
    port,
    user,
    identityFiles:
      identityFiles.length > 0
        ? identityFiles.map((file) => file.replace(/^~(?=\/)/, home))
        : configuredKeys(config, path, folder),
    identitiesOnly: config.isYes('IdentitiesOnly') || identityFiles.length > 0,
    agent: agentSocket(config, path, environment),
    knownHostsFiles: knownHostsFiles(config, path, folder),
    hostKeyAlias: config.one('HostKeyAlias'),
    unknownHosts: unknownHosts(config.one('StrictHostKeyChecking')),
    hashKnownHosts: config.isYes('HashKnownHosts'),
    proxyCommand: command && expand(command),
    jumps: jump ? jump.split(',').map((hop) => parseSshHost(hop.trim().replace(/^ssh:\/\//, ''))) : [],
    connectTimeoutMs: (Number(config.one('ConnectTimeout')) || defaultTimeoutMs / 1000) * 1000,
  }
}

/** Returns a function that replaces tokens such as `%h`, and `%%` by `%`. */
function tokenExpander(tokens: Readonly<Record<'h' | 'd' | 'n' | 'r' | 'p' | 'u', string>>): (text: string) => string {
  const values: Readonly<Record<string, string>> = { ...tokens, '%': '%' }
  return (text) => text.replace(/%([%hdnrpu])/g, (_, letter: string) => values[letter] ?? '')
}

type ExpandPath = (text: string) => string

function configuredKeys(config: HostConfig, path: ExpandPath, folder: string): readonly string[] {
  const files = config.all('IdentityFile')
  if (files.length === 0) return defaultKeys.map((key) => join(folder, key))
  return files.filter((file) => file !== 'none').map(path)
}

function agentSocket(config: HostConfig, path: ExpandPath, environment: NodeJS.ProcessEnv): string | undefined {
  const agent = config.one('IdentityAgent') ?? 'SSH_AUTH_SOCK'
  if (agent === 'none') return undefined
  return agent === 'SSH_AUTH_SOCK' ? environment.SSH_AUTH_SOCK || undefined : path(agent)
}

/** Returns the user's files, then the system's. */
function knownHostsFiles(config: HostConfig, path: ExpandPath, folder: string): readonly string[] {
  const own = config.words('UserKnownHostsFile')
  const global = config.words('GlobalKnownHostsFile')
  return [
    ...(own.length > 0 ? own.map(path) : [join(folder, 'known_hosts'), join(folder, 'known_hosts2')]),
    ...(global.length > 0 ? global : ['/etc/ssh/ssh_known_hosts', '/etc/ssh/ssh_known_hosts2']),
  ]
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
