/** The default user of an image in CRI's messages. */

/** `user` is that of the image's configuration: `1000:1000`, `www-data`, or '' for root. */
export function imageUser(user: string): { uid: { value: bigint } } | { username: string } {
  const [name = ''] = user.split(':')
  if (/^\d+$/.test(name)) return { uid: { value: BigInt(name) } }
  return name ? { username: name } : { uid: { value: 0n } }
}
