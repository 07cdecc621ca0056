/** Image references, as far as the API looks into them: the grammar is that of the OCI's distribution. */

const domainPart = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const domain = `(?:${domainPart}(?:\\.${domainPart})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`
const pathPart = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const digestForm = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}'
const reference = new RegExp(
  `^(?:${domain}/)?${pathPart}(?:/${pathPart})*(?::([\\w][\\w.-]{0,127}))?(?:@(${digestForm}))?$`,
)
const identifier = /^[a-f0-9]{64}$/

/** Hexadecimal digits of the digests that are known. */
const digestLengths: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 }

/**
 * A name of 255 characters, a tag of 128 and the longest digest fit: longer texts are no references, and not looked
 * into.
 */
const maxLength = 1024

/**
 * The tag of a reference, `latest` where neither tag nor digest is; empty for a digest alone, and for what is no
 * reference.
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
 * Always for `latest`, said or meant; IfNotPresent for other tags, for digests without a tag, and for what is no
 * reference.
 */
export const imagePullPolicy = (image: string): 'Always' | 'IfNotPresent' =>
  tagOf(image) === 'latest' ? 'Always' : 'IfNotPresent'
