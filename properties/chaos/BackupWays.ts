/** What is done to backups that are under way, and how disks are made again from those that were taken. */

export const backupWays = [
  "undisturbed",
  "slow copy",
  "slow reader",
  "peer killed",
  "reader killed",
  "copy fails",
  "copy finds the disk full",
  "reader's disk full",
] as const;
export type BackupWay = (typeof backupWays)[number];

/** From the newest or the oldest backup, by a command that is killed first or is not. */
export const restoreWays = [
  "from the newest",
  "from the oldest",
  "from the newest, killed first",
  "from the oldest, killed first",
] as const;
