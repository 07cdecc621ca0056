/** Image references, as far as the API looks into them. */

/** Always for `latest`, said or meant; IfNotPresent for other tags and for digests without a tag. */
export function imagePullPolicy(image: string): 'Always' | 'IfNotPresent' {
  if (image === '') return 'IfNotPresent'
  const at = image.indexOf('@')
  const name = at < 0 ? image : image.slice(0, at)
  const colon = name.indexOf(':', name.lastIndexOf('/') + 1)
  const tag = colon < 0 ? (at < 0 ? 'latest' : '') : name.slice(colon + 1)
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}
