/** Names of images: registry, repository, tag and digest, as Docker and upstream parse them. */
import { goQuote } from '../../lib/go/go-quote.ts'

export interface ImageName {
  /** Registry and repository: `docker.io/library/nginx`. */
  readonly repository: string
  /** `latest` if neither a tag nor a digest is given. */
  readonly tag: string
  readonly digest: string
}

const defaultRegistry = 'docker.io'
const officialFolder = 'library/'
const maxRepositoryLength = 255
/** Longer than any repository with tag and digest. */
const maxLength = 1024

const domainPart = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const domain = `(?:${domainPart}(?:\\.${domainPart})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`
const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const tagPart = '[\\w][\\w.-]{0,127}'
const digestPart = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}'
const reference = new RegExp(`^(${domain}/${component}(?:/${component})*)(?::(${tagPart}))?(?:@(${digestPart}))?$`)

/** Characters of a digest by its algorithm. */
const digestLengths: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 }

/** Throws an Error with upstream's message for a name that is not valid. */
export function parseImageName(image: string): ImageName {
  const invalid = (reason: string): Error => new Error(`couldn't parse image name ${goQuote(image)}: ${reason}`)
  if (image === '') throw invalid('invalid reference format')
  if (image.length > maxLength) throw invalid(tooLong)
  if (/^[a-f0-9]{64}$/.test(image))
    throw invalid(`invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`)
  const { registry, rest } = splitRegistry(image)
  const [path = ''] = rest.split(':', 1)
  if (path !== path.toLowerCase())
    throw invalid(`invalid reference format: repository name (${path}) must be lowercase`)
  const [, repository = '', tag = '', digest = ''] = reference.exec(`${registry}/${rest}`) ?? []
  if (repository === '') throw invalid('invalid reference format')
  if (repository.length > maxRepositoryLength) throw invalid(tooLong)
  const problem = digest && digestProblem(digest)
  if (problem) throw invalid(problem)
  return { repository, tag: tag || (digest ? '' : 'latest'), digest }
}

const tooLong = `repository name must not be more than ${maxRepositoryLength} characters`

/** A first part without a dot or port is no registry, but a folder at Docker's. */
function splitRegistry(image: string): { readonly registry: string; readonly rest: string } {
  const slash = image.indexOf('/')
  const first = image.slice(0, Math.max(slash, 0))
  const isRegistry = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase()
  const given = slash >= 0 && isRegistry ? first : defaultRegistry
  const registry = given === 'index.docker.io' ? defaultRegistry : given
  const rest = slash >= 0 && isRegistry ? image.slice(slash + 1) : image
  return { registry, rest: registry === defaultRegistry && !rest.includes('/') ? `${officialFolder}${rest}` : rest }
}

function digestProblem(digest: string): string | undefined {
  const [algorithm = '', hex = ''] = digest.split(':')
  const length = digestLengths[algorithm]
  if (length === undefined) return 'unsupported digest algorithm'
  return hex.length === length && /^[a-f0-9]+$/.test(hex) ? undefined : 'invalid checksum digest length'
}

/** Returns the name with the tag `latest` if it has neither a tag nor a digest. It is not made complete otherwise. */
export function withDefaultTag(image: string): string {
  const { tag, digest } = parseImageName(image)
  return digest === '' && tag !== '' && !image.endsWith(`:${tag}`) ? `${image}:${tag}` : image
}

/** Returns the complete name: `nginx` → `docker.io/library/nginx:latest`. */
export function completeName(image: string): string {
  const { repository, tag, digest } = parseImageName(image)
  return `${repository}${tag && `:${tag}`}${digest && `@${digest}`}`
}
