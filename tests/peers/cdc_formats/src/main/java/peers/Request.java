package peers;

import java.util.List;

/**
 * One message for one format.
 *
 * @param columns the names of the table's columns, for formats that need them
 */
record Request(String consumer, List<String> columns, byte[] key, byte[] value) {}
