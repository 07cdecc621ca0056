/** The versions of Node that run the package. This file must also run on much older ones. */

/** The oldest version of Node that runs the package: the first that can `require` ES modules. Also in package.json. */
export const oldestNode = '22.12.0'

/**
 * Returns the reason why a version of Node cannot run `program`, and what to do; undefined if it can.
 * @example unsupportedNode('t8s', '20.19.4') // 't8s needs Node 22.12.0 or newer, but this is Node 20.19.4: …'
 */
export function unsupportedNode(program: string, version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number)
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined
  return (
    `${program} needs Node ${oldestNode} or newer, but this is Node ${version}: ` +
    'install a newer one (https://nodejs.org) and try again'
  )
}
