/** Which release of this package is running. */
import packageJson from '../../package.json' with { type: 'json' }

/** `0.1.0` */
export const release: string = packageJson.version
