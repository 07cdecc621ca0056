/** The interface of images for containers: the runtime knows nothing else of their store. */
export interface ImageDefaults {
  readonly entrypoint: readonly string[]
  readonly cmd: readonly string[]
  readonly env: readonly string[]
  /** '' is root. */
  readonly user: string
  readonly workingDir: string
  /** '' is SIGTERM. */
  readonly stopSignal: string
}

export interface UsableImage {
  readonly id: string
  /** A name with a digest, or the ID. */
  readonly reference: string
  readonly defaults: ImageDefaults
}

export interface ContainerImages {
  /** True if roots can belong to the users of a pod. */
  readonly canMapUsers: boolean
  /** Finds an image by name or ID; undefined if it is not present. */
  find(reference: string): Promise<UsableImage | undefined>
  /** Prepares the root file system of a container and returns its folder. It survives the runtime. */
  prepareRoot(containerId: string, imageId: string, options?: RootOptions): Promise<string>
  /** Does nothing if there is none. */
  removeRoot(containerId: string): Promise<void>
  /**
   * Writes what a container has changed into a new tar file, in the form of a layer. Without overlayfs, it is all of
   * its files.
   */
  packChanges(containerId: string, file: string): Promise<void>
  /** The space of what a container has written. */
  writableUsage(containerId: string): Promise<LayerUsage>
}

export interface RootOptions {
  /** Without a layer for changes. Default: false. */
  readonly isReadOnly?: boolean
  /** Default: the machine's. */
  readonly users?: RootUsers | undefined
}

/** The users of a pod, to whom files of the machine's users with the same numbers belong. */
export interface RootUsers {
  /** The file of its user namespace. */
  readonly namespace: string
  /** The IDs of its root on the machine. */
  readonly uid: number
  readonly gid: number
}

export interface LayerUsage {
  readonly bytes: number
  readonly inodes: number
  /** The folder whose file system has the files. */
  readonly mountpoint: string
}
