/** The folders of volumes of clusters in memory. They exist once there is a volume. */
import { ProcessFolders } from '../../lib/process/process-folders.ts'

export const memoryVolumes = new ProcessFolders('t8s-volumes-')
