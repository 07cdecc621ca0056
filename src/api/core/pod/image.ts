/** Parses tags of image references, with the grammar of distribution/reference. */

const domainPart = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const domain = `(?:${domainPart}(?:\\.${domainPart})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`
const pathPart = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const digestForm = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}'
const reference = new RegExp(
  `^(?:${domain}/)?${pathPart}(?:/${pathPart})*(?::([\\w][\\w.-]{0,127}))?(?:@(${digestForm}))?$`,
)
const identifier = /^[a-f0-9]{64}$/

/** The number of hexadecimal digits by digest algorithm. */
const digestLengths: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 }

/**
 * Fits a name of 255 characters, a tag of 128 and the longest digest. Longer texts are no references and not matched.
 */
const maxLength = 1024

/**
 * Returns the tag of a reference, `latest` without tag and digest, and an empty text for a digest without a tag and for
 * invalid references.
 */
function tagOf(image: string): string {
  if (image.length > maxLength || identifier.test(image)) return ''
  const match = reference.exec(image)
  if (!match) return ''
  const [, tag, digest] = match
  if (digest === undefined) return tag ?? 'latest'
  const [algorithm = '', hex = ''] = digest.split(':')
  return digestLengths[algorithm] === hex.length && !/[A-F]/.test(hex) ? (tag ?? '') : ''
}

/**
 * Returns Always for the explicit or default tag `latest`, and IfNotPresent for other tags, digests without a tag and
 * invalid references.
 */
export const imagePullPolicy = (image: string): 'Always' | 'IfNotPresent' =>
  tagOf(image) === 'latest' ? 'Always' : 'IfNotPresent'
