/** Errors of the CNI protocol (specification 1.1, section 5): a code, a message, details. */

export const errorCodes = {
  incompatibleVersion: 1,
  unknownContainer: 3,
  invalidEnvironment: 4,
  failedIo: 5,
  invalidJson: 6,
  invalidConfiguration: 7,
  /** The plug-in cannot connect pods now. */
  notAvailable: 50,
  /** Codes from 100 belong to the plug-in. */
  failed: 100,
} as const

export class PluginError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'PluginError'
    this.code = code
  }
}
