/** The configuration of credential providers: programs that give the kubelet credentials of registries. */
import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { goDurationMs } from '../../../lib/go/go-duration.ts'
import { goQuote } from '../../../lib/go/go-quote.ts'
import { fromYaml } from '../../../machinery/yaml.ts'

export interface ProviderSettings {
  /** The name of its program. */
  readonly name: string
  readonly apiVersion: string
  readonly matchImages: readonly string[]
  readonly defaultCacheMs: number
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const configVersions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `kubelet.config.k8s.io/${version}`)
const requestVersions = ['v1', 'v1alpha1', 'v1beta1'].map((version) => `credentialprovider.kubelet.k8s.io/${version}`)

/**
 * Reads the file of `--image-credential-provider-config`, or all YAML and JSON files of a folder, by name. Throws an
 * Error if one is not valid.
 */
export function readProviderConfig(path: string): ProviderSettings[] {
  if (!statSync(path).isDirectory()) return parseProviderConfig([readFileSync(path, 'utf8')])
  const files = readdirSync(path).filter((name) => /\.(json|ya?ml)$/.test(name))
  return parseProviderConfig(files.sort().map((name) => readFileSync(join(path, name), 'utf8')))
}

/** Throws an Error with upstream's message if a program of a provider is missing. */
export function checkProviderPrograms(folder: string, providers: readonly ProviderSettings[]): void {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`plugin binary directory ${folder} did not exist`)
  for (const { name } of providers) {
    const file = join(folder, name)
    try {
      accessSync(file, constants.X_OK)
    } catch {
      throw new Error(`plugin binary executable ${file} did not exist`)
    }
  }
}

/** Throws an Error with upstream's messages if a document is not a valid CredentialProviderConfig. */
export function parseProviderConfig(texts: readonly string[]): ProviderSettings[] {
  const providers = texts.flatMap(providersOf)
  const problems = problemsOf(providers)
  if (problems.length > 0) throw new Error(`failed to validate credential provider config: ${listed(problems)}`)
  return providers.map(({ name, apiVersion, matchImages, defaultCacheDuration, args, env }) => ({
    name: textOf(name),
    apiVersion: textOf(apiVersion),
    matchImages: textsOf(matchImages),
    defaultCacheMs: goDurationMs(textOf(defaultCacheDuration)),
    args: textsOf(args),
    env: Object.fromEntries(listOf(env).map((one) => [textOf(one.name), textOf(one.value)])),
  }))
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : [])
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(textOf) : [])
const listed = (problems: readonly string[]): string =>
  problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`

function providersOf(text: string): readonly Fields[] {
  const document = fromYaml(text)
  if (!isFields(document)) throw new Error('the credential provider config is not an object')
  if (document.kind !== 'CredentialProviderConfig')
    throw new Error(`failed to decode ${goQuote(textOf(document.kind))} (wrong Kind)`)
  if (!configVersions.includes(textOf(document.apiVersion)))
    throw new Error(
      `no kind "CredentialProviderConfig" is registered for version ${goQuote(textOf(document.apiVersion))}`,
    )
  return listOf(document.providers)
}

function problemsOf(providers: readonly Fields[]): string[] {
  if (providers.length === 0) return ['providers: Required value: at least 1 item in plugins is required']
  const seen = new Set<string>()
  return providers.flatMap((provider) => {
    const name = textOf(provider.name)
    const isRepeated = seen.has(name)
    seen.add(name)
    return [
      ...nameProblems(name),
      ...(isRepeated ? [`providers.name: Duplicate value: ${goQuote(name)}`] : []),
      ...versionProblems(textOf(provider.apiVersion)),
      ...imageProblems(textsOf(provider.matchImages)),
      ...durationProblems(provider.defaultCacheDuration),
      // Tokens of service accounts are not given to programs yet: credentials of nobody would be worse than an error.
      ...(provider.tokenAttributes === undefined ? [] : ['providers.tokenAttributes: Forbidden: it is not supported']),
    ]
  })
}

function nameProblems(name: string): string[] {
  const invalid = (why: string): string => `providers.name: Invalid value: ${goQuote(name)}: provider name ${why}`
  return [
    ...(name === '' ? ['providers.name: Required value: provider name is required'] : []),
    ...(name.includes('/') ? [invalid("cannot contain '/'")] : []),
    ...(name.includes(' ') ? [invalid('cannot contain spaces')] : []),
    ...(name === '.' || name === '..' ? [invalid(`cannot be '${name}'`)] : []),
  ]
}

function versionProblems(apiVersion: string): string[] {
  if (apiVersion === '') return ['providers.apiVersion: Required value: apiVersion is required']
  if (requestVersions.includes(apiVersion)) return []
  const supported = requestVersions.map(goQuote).join(', ')
  return [`providers.apiVersion: Unsupported value: ${goQuote(apiVersion)}: supported values: ${supported}`]
}

function imageProblems(matchImages: readonly string[]): string[] {
  if (matchImages.length === 0)
    return ['providers.matchImages: Required value: at least 1 item in matchImages is required']
  return matchImages
    .filter((image) => image === '' || /\s/.test(image))
    .map((image) => `providers.matchImages: Invalid value: ${goQuote(image)}: match image is invalid`)
}

function durationProblems(duration: unknown): string[] {
  if (duration === undefined)
    return ['providers.defaultCacheDuration: Required value: defaultCacheDuration is required']
  try {
    if (goDurationMs(textOf(duration)) >= 0) return []
  } catch (error) {
    return [`providers.defaultCacheDuration: Invalid value: ${(error as Error).message}`]
  }
  const why = 'defaultCacheDuration must be greater than or equal to 0'
  return [`providers.defaultCacheDuration: Invalid value: ${goQuote(textOf(duration))}: ${why}`]
}
