package peers;

/**
 * One message for one consumer.
 *
 * @param columns what stands between the parentheses of CREATE TABLE, for consumers that need it
 */
record Request(String consumer, String columns, byte[] key, byte[] value) {}
