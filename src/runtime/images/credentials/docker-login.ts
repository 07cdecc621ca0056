/**
 * Logins of this user, as Docker stores them: in `config.json`, or at a credential helper that it names.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../../lib/explained-error.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { parseConfigJson } from '../../../node/images/docker-config.ts'
import { isObject, stringsOf, textOf } from '../formats/manifest.ts'
import { ImageError } from '../image-error.ts'
import type { RegistryLogin } from '../registry/transport/authorizer.ts'

/** Docker stores the login of its own registry by this key. */
const hubKey = 'https://index.docker.io/v1/'
/** A helper's name for a user without a name, who has an identity token. */
const tokenUser = '<token>'
const helperTimeoutMs = 60_000

export interface DockerLoginOptions {
  /** The folder of `config.json`. Default: $DOCKER_CONFIG, else ~/.docker. */
  readonly folder?: string
  readonly environment?: NodeJS.ProcessEnv
}

/**
 * Returns the login for a registry such as `registry.test:5000` or `docker.io`; undefined if there is none. Rejects if
 * the file cannot be read, or if a helper fails.
 */
export async function dockerLogin(
  registry: string,
  options: DockerLoginOptions = {},
): Promise<RegistryLogin | undefined> {
  const { environment = process.env, folder = environment.DOCKER_CONFIG || join(homedir(), '.docker') } = options
  const text = readIfPresent(join(folder, 'config.json'))
  if (text === undefined) return undefined
  const config = parse(text, join(folder, 'config.json'))
  const key = registry === 'docker.io' ? hubKey : registry
  const helper =
    stringsOf(config.credHelpers)[key] ?? stringsOf(config.credHelpers)[registry] ?? textOf(config.credsStore)
  const login = helper === '' ? undefined : await askHelper(helper, key, environment)
  return login ?? loginOf(text, config, registry)
}

type Fields = Readonly<Record<string, unknown>>

function parse(text: string, file: string): Fields {
  try {
    const config: unknown = JSON.parse(text)
    if (isObject(config)) return config
  } catch {
    // Reported below.
  }
  throw new ImageError('InvalidArgument', `${file} is not valid: it must be a JSON object`)
}

/** The keys are hosts, or URLs in files of older versions. */
function loginOf(text: string, { auths }: Fields, registry: string): RegistryLogin | undefined {
  const hosts: readonly string[] = registry === 'docker.io' ? ['index.docker.io', 'docker.io'] : [registry]
  for (const [key, login] of parseConfigJson(text)) {
    if (!hosts.includes(hostOf(key))) continue
    const entry = isObject(auths) ? auths[key] : undefined
    const { identitytoken, registrytoken } = isObject(entry) ? entry : {}
    const identityToken = textOf(identitytoken)
    const registryToken = textOf(registrytoken)
    if (login.username || identityToken || registryToken)
      return { ...login, ...(identityToken && { identityToken }), ...(registryToken && { registryToken }) }
  }
  return undefined
}

const hostOf = (key: string): string => key.replace(/^https?:\/\//, '').split('/', 1)[0] ?? ''

function askHelper(name: string, key: string, environment: NodeJS.ProcessEnv): Promise<RegistryLogin | undefined> {
  const program = `docker-credential-${name}`
  if (!/^[\w.-]+$/.test(name))
    throw new ImageError('InvalidArgument', `${JSON.stringify(name)} is no credential helper`)
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      ['get'],
      { env: environment, timeout: helperTimeoutMs },
      (error, stdout, stderr) => {
        if (!error) resolve(helperLogin(stdout))
        // The words of all helpers for a registry without a login.
        else if (/credentials not found/.test(`${stdout}${stderr}`)) resolve(undefined)
        else reject(new ImageError('Unknown', `${program} failed: ${(stdout || stderr || messageOf(error)).trim()}`))
      },
    )
    // A helper that ends without reading closes its end.
    child.stdin?.on('error', () => {})
    child.stdin?.end(key)
  })
}

function helperLogin(output: string): RegistryLogin | undefined {
  const { Username, Secret } = parse(output, 'the output of the credential helper')
  const [username, password] = [textOf(Username), textOf(Secret)]
  if (username === tokenUser) return { username: '', password: '', identityToken: password }
  return username === '' ? undefined : { username, password }
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
